// Notifications of the browser, off until asked for; only while nobody looks at the page.
const KEY = 'levelcap-notify';

function isOn() {
  return localStorage.getItem(KEY) === 'on' && 'Notification' in window && Notification.permission === 'granted';
}

function show() {
  document.querySelector('#notify').setAttribute('aria-checked', String(isOn()));
}

async function toggle() {
  const asks = !isOn() && 'Notification' in window;
  const given = asks ? await Notification.requestPermission() : 'denied';
  localStorage.setItem(KEY, given === 'granted' ? 'on' : 'off');
  show();
}

export function notify({ title, text }) {
  if (document.hidden && isOn()) new Notification(title, { body: text, tag: title });
}

export function listenForNotices() {
  show();
  document.querySelector('#notify').addEventListener('click', toggle);
}
