// A chart: ECharts with our defaults; whiskers are drawn here, so that no page sends functions.
import { echarts } from 'nicegui-echart';

function whisker(colour) {
  return (_params, api) => {
    const low = api.coord([api.value(0), api.value(1)]);
    const high = api.coord([api.value(0), api.value(2)]);
    const half = 6;
    const line = (x1, y1, x2, y2) => ({
      type: 'line',
      shape: { x1, y1, x2, y2 },
      style: { stroke: colour, lineWidth: 1.6 },
    });
    return {
      type: 'group',
      children: [
        line(low[0], low[1], high[0], high[1]),
        line(low[0] - half, low[1], low[0] + half, low[1]),
        line(high[0] - half, high[1], high[0] + half, high[1]),
      ],
    };
  };
}

function prepared(options) {
  const series = (options.series || []).map((row) => {
    if (!row.whiskers) return row;
    const { whiskers, ...rest } = row;
    return { ...rest, renderItem: whisker(whiskers), encode: { x: 0, y: [1, 2] }, z: 3 };
  });
  return { ...options, series };
}

export default {
  props: { options: Object, label: String, name: String },
  emits: [],
  mounted() {
    this.chart = echarts.init(this.$refs.canvas, null, { renderer: 'canvas' });
    this.watcher = new ResizeObserver(() => this.chart.resize());
    this.watcher.observe(this.$refs.canvas);
    this.draw();
  },
  watch: {
    options() {
      this.draw();
    },
  },
  beforeUnmount() {
    this.watcher.disconnect();
    this.chart.dispose();
  },
  methods: {
    draw() {
      const raw = Vue.toRaw(this.options);
      this.chart.setOption(prepared(raw), { notMerge: true });
      this.$el.dataset.points = Math.max(0, ...(raw.series || []).map((s) => (s.data || []).length));
    },
    save() {
      const link = document.createElement('a');
      link.download = `${this.name}.png`;
      link.href = this.chart.getDataURL({ type: 'png', pixelRatio: 2, backgroundColor: '#1b1612' });
      link.click();
    },
  },
  render() {
    const h = Vue.h;
    return h('div', { role: 'img', 'aria-label': this.label }, [
      h('div', { ref: 'canvas', class: 'chart-canvas' }),
      h(
        'button',
        {
          type: 'button',
          class: 'chart-save',
          title: 'Save as PNG',
          onClick: this.save,
          'aria-label': `Save ${this.label} as PNG`,
        },
        'PNG',
      ),
    ]);
  },
};
