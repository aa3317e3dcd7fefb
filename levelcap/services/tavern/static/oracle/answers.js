// What the page asks the Oracle: plain answers, and answers that come piece by piece.

const API = '/oracle/api';

export async function json(path, body) {
  const options =
    body === undefined
      ? {}
      : {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify(body),
        };
  const answer = await fetch(API + path, options);
  const said = await answer.json();
  if (!answer.ok) throw new Error(said.message || `refused (${answer.status})`);
  return said;
}

// Calls `heard` with every piece of text; returns why the answer ended.
export async function listen(body, signal, heard) {
  const answer = await fetch(`${API}/chat`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
    signal,
  });
  if (!answer.ok) throw new Error((await answer.json()).message || `refused (${answer.status})`);
  const reader = answer.body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  let finish = null;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return finish;
    rest += decoder.decode(value, { stream: true });
    const events = rest.split('\n\n');
    rest = events.pop();
    for (const event of events) {
      const data = event.replace(/^data: /, '');
      if (data === '[DONE]') continue;
      const said = JSON.parse(data);
      if (said.error) throw new Error(said.error.message);
      const choice = said.choices[0];
      if (!choice) continue;
      if (choice.delta.content) heard(choice.delta.content);
      finish = choice.finish_reason || finish;
    }
  }
}
