// Where fingers steer: a stick on the left, the aim on the right, faint until they are touched.

const REACH = 50, // css px from the middle of the stick to its rim
  EDGE = 84;

// input: see `Input`; ratio: px of the canvas for a css px.
export function drawSticks(g, input, ratio) {
  if (!input.touched) return;
  const wide = input.canvas.clientWidth,
    high = input.canvas.clientHeight,
    { stick, shot } = input;
  g.save();
  g.scale(ratio, ratio);
  const middle = stick ?? { x: EDGE, y: high - EDGE, move: { x: 0, y: 0 } };
  ring(g, middle, REACH, stick ? 0.55 : 0.22);
  disc(g, middle.x + REACH * middle.move.x, middle.y - REACH * middle.move.y, 20, stick ? 0.6 : 0.25);
  ring(g, shot ?? { x: wide - EDGE, y: high - EDGE }, shot ? 30 : REACH, shot ? 0.7 : 0.22);
  g.restore();
}

function ring(g, { x, y }, r, alpha) {
  g.globalAlpha = alpha;
  g.strokeStyle = '#ffffff';
  g.lineWidth = 3;
  g.beginPath();
  g.arc(x, y, r, 0, 2 * Math.PI);
  g.stroke();
}

function disc(g, x, y, r, alpha) {
  g.globalAlpha = alpha;
  g.fillStyle = '#ffffff';
  g.beginPath();
  g.arc(x, y, r, 0, 2 * Math.PI);
  g.fill();
}
