// A recipe as a form: every change of a field writes the YAML beside it.
const PLAIN = /^[\w .~-]+$/;

// Lists and tables are written as YAML has them; words that could mean something else in quotes.
function line(name, value) {
  const asIs = PLAIN.test(value) || /^[[{]/.test(value);
  return `${name}: ${asIs ? value : JSON.stringify(value)}`;
}

function written(form) {
  const lines = [`quest: ${form.dataset.recipe}`];
  for (const field of form.querySelectorAll('[name]')) {
    if (field.value.trim()) lines.push(line(field.name, field.value.trim()));
  }
  return `${lines.join('\n')}\n`;
}

export function writeRecipes() {
  document.addEventListener('input', (event) => {
    const form = event.target.closest('[data-recipe]');
    if (form) document.querySelector(form.dataset.into).value = written(form);
  });
}
