// Makes an element like another one with as few changes as possible: what is equal stays the element
// it is, with its focus, its scroll bar and what is being typed in it. Rows are known by `data-key`.
const OURS = { DIALOG: ['open'], DETAILS: ['open'] }; // set by the browser or a person, not by the server

function keyOf(node) {
  return node.nodeType === Node.ELEMENT_NODE ? node.dataset.key || node.id || null : null;
}

function alike(one, other) {
  return one.nodeType === other.nodeType && one.nodeName === other.nodeName;
}

// Elements of our own draw what is inside themselves, and note in attributes what they drew.
function isOwn(node) {
  return node.nodeName.includes('-');
}

// What is shown once and stays as it is, until a person puts it away or a script changes it.
function stays(node) {
  return node?.nodeType === Node.ELEMENT_NODE && 'keep' in node.dataset;
}

function attributes(from, to) {
  const kept = OURS[from.nodeName] || [];
  for (const { name } of isOwn(from) ? [] : [...from.attributes]) {
    if (!to.hasAttribute(name) && !kept.includes(name)) from.removeAttribute(name);
  }
  for (const { name, value } of to.attributes) {
    if (from.getAttribute(name) === value) continue;
    from.setAttribute(name, value);
    // The server says another value than before: that one counts, not what stood in the field, unless
    // somebody is just typing there.
    if (name === 'value' && from.nodeName === 'INPUT' && from !== document.activeElement) from.value = value;
    if (name === 'checked') from.checked = true;
    if (name === 'selected') from.selected = true;
  }
}

function children(from, to) {
  const known = new Map();
  for (const child of from.children) if (keyOf(child)) known.set(keyOf(child), child);
  let at = from.firstChild;
  for (const wanted of [...to.childNodes]) {
    const key = keyOf(wanted);
    while (stays(at) && keyOf(at) !== key) at = at.nextSibling;
    let found = null;
    if (key) found = known.get(key) || null;
    else if (at && !keyOf(at) && alike(at, wanted)) found = at;
    if (found && !alike(found, wanted)) found = null;
    if (!found) {
      from.insertBefore(document.importNode(wanted, true), at);
      continue;
    }
    if (found === at) at = at.nextSibling;
    else from.insertBefore(found, at);
    morph(found, wanted);
  }
  while (at) {
    const next = at.nextSibling;
    if (!stays(at)) at.remove();
    at = next;
  }
}

export function morph(from, to) {
  if (stays(from)) return;
  if (from.nodeType !== Node.ELEMENT_NODE) {
    if (from.nodeValue !== to.nodeValue) from.nodeValue = to.nodeValue;
    return;
  }
  attributes(from, to);
  if (isOwn(from) || from.nodeName === 'TEXTAREA') return; // in a text area a person writes
  children(from, to);
}

export function parse(html) {
  return new DOMParser().parseFromString(html, 'text/html');
}
