// Asks once before something is done: a window with the question, yes and no.
function button(words, look, answer) {
  const made = document.createElement('button');
  Object.assign(made, { type: 'button', className: `btn ${look}`, textContent: words });
  made.onclick = () => made.closest('dialog').close(answer);
  return made;
}

export function ask(question) {
  const shown = document.createElement('dialog');
  shown.className = 'window question';
  shown.ariaLabel = 'Are you sure?';
  const words = document.createElement('p');
  words.textContent = question;
  const row = document.createElement('div');
  row.className = 'row';
  row.append(button('Yes', 'primary', 'yes'), button('No', '', ''));
  shown.append(words, row);
  document.body.append(shown);
  shown.showModal();
  return new Promise((answered) => {
    shown.onclose = () => {
      shown.remove();
      answered(shown.returnValue === 'yes');
    };
  });
}
