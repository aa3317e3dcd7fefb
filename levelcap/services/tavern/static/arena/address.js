// Where a match has its address: /arena/m/<id>. What else an address may ask for stands behind the ?.

const MATCH = /^\/arena\/m\/([^/]+)$/;

// What the address of this page asks for.
export function asked() {
  const given = new URLSearchParams(location.search),
    found = MATCH.exec(location.pathname);
  return {
    match: found ? decodeURIComponent(found[1]) : (given.get('match') ?? ''),
    replay: given.get('replay') ?? '',
    tick: Number(given.get('tick')) || 0,
    seats: { blue: given.get('blue'), red: given.get('red'), world: given.get('ruleset') },
  };
}

export const addressOf = (id) => `/arena/m/${encodeURIComponent(id)}`;

// The address of what is shown from now on; "back" leads to what was shown before.
export function goTo(path) {
  if (location.pathname + location.search !== path) history.pushState(null, '', path);
}
