// Words that come and go, where they cover no control; what went wrong stays longer.
const MOST = 3;
const STAYS_MS = { good: 5000, success: 5000, info: 5000, warning: 8000, error: 8000 };

export function toast(title, text = '', tone = 'good') {
  if (!title) return;
  const shown = document.createElement('div');
  shown.className = `toast ${tone}`;
  const head = document.createElement('b');
  head.textContent = title;
  shown.append(head);
  if (text) {
    const more = document.createElement('p');
    more.textContent = text;
    shown.append(more);
  }
  const place = document.querySelector('#toasts');
  place.prepend(shown);
  while (place.children.length > MOST) place.lastElementChild.remove();
  setTimeout(() => shown.remove(), STAYS_MS[tone] || STAYS_MS.good);
}
