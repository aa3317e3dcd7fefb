// The socket of a live match.

const LOST = new Set([1001, 1006, 1012, 1013]); // went away, not sent away

// take: gets every message. gone: {none: no such match, lost, reason}, once.
export function listenTo(id, take, gone) {
  const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
  const socket = new WebSocket(`${scheme}://${location.host}/arena/ws/${encodeURIComponent(id)}`);
  socket.binaryType = 'arraybuffer';
  socket.onmessage = (event) => take(new Uint8Array(event.data));
  socket.onclose = (event) => gone({ none: event.code === 4404, lost: LOST.has(event.code), reason: event.reason });
  return {
    say: (what) => {
      const open = socket.readyState === WebSocket.OPEN;
      if (open) socket.send(what);
      return open;
    },
    close: () => {
      socket.onmessage = socket.onclose = null;
      // One that is not open yet is closed when it is: closed before, the browser would complain.
      if (socket.readyState === WebSocket.CONNECTING) socket.onopen = () => socket.close();
      else socket.close();
    },
  };
}
