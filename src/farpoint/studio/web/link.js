// The socket to the server: questions go up as frames, answers come down as frames of arrays.

const TYPES = { u1: Uint8Array, i4: Int32Array, f4: Float32Array, f8: Float64Array };
const ALIGNMENT = 8;

function codeOf(array) {
  return Object.keys(TYPES).find((code) => array instanceof TYPES[code]);
}

export function pack(header, arrays = {}) {
  const listed = Object.entries(arrays).map(([name, array]) => [name, codeOf(array), array.length]);
  let text = new TextEncoder().encode(JSON.stringify({ ...header, arrays: listed }));
  const padded = Math.ceil((text.length + 4) / ALIGNMENT) * ALIGNMENT - 4;
  const sizes = Object.values(arrays).map((array) => Math.ceil(array.byteLength / ALIGNMENT) * ALIGNMENT);
  const frame = new Uint8Array(4 + padded + sizes.reduce((sum, size) => sum + size, 0)).fill(32, 4, 4 + padded);
  new DataView(frame.buffer).setUint32(0, padded, true);
  frame.set(text, 4);
  let offset = 4 + padded;
  Object.values(arrays).forEach((array, index) => {
    frame.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), offset);
    offset += sizes[index];
  });
  return frame;
}

export function unpack(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  let offset = 4 + length;
  for (const [name, code, size] of header.arrays) {
    header[name] = new TYPES[code](buffer, offset, size);
    offset += Math.ceil(header[name].byteLength / ALIGNMENT) * ALIGNMENT;
  }
  delete header.arrays;
  return header;
}

export class Link {
  constructor(onOpen, onClose) {
    this.onOpen = onOpen;
    this.onClose = onClose;
    this.waiting = new Map();
    this.latest = new Map();
    this.number = 0;
    this.delay = 250;
    this.ended = false;
    this.connect();
  }

  connect() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    this.socket = new WebSocket(`${scheme}://${location.host}/studio/socket`);
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () => {
      this.delay = 250;
      this.onOpen();
    };
    this.socket.onmessage = (event) => this.receive(unpack(event.data));
    this.socket.onclose = () => {
      this.waiting.clear();
      if (this.ended) return;
      this.onClose();
      setTimeout(() => this.connect(), this.delay);
      this.delay = Math.min(4000, this.delay * 2);
    };
  }

  get open() {
    return this.socket.readyState === WebSocket.OPEN;
  }

  // Resolves with the answer; never, if a later question on the same channel takes its place.
  ask(header, arrays = {}, onPart = null) {
    const id = ++this.number;
    const channel = header.channel ?? header.do;
    if (channel !== "edit") {
      this.waiting.delete(this.latest.get(channel));
      this.latest.set(channel, id);
    }
    return new Promise((resolve, reject) => {
      if (!this.open) return;
      this.waiting.set(id, { resolve, reject, onPart, channel });
      this.socket.send(pack({ ...header, channel, id }, arrays));
    });
  }

  cancel(channel) {
    this.waiting.delete(this.latest.get(channel));
    if (this.open) this.socket.send(pack({ do: "cancel", channel }));
  }

  receive(answer) {
    const question = this.waiting.get(answer.id);
    if (!question) return;
    const partial = answer.progress !== undefined || answer.row !== undefined || answer.preview !== undefined || question.channel === "curve";
    if (partial && answer.error === undefined) {
      question.onPart?.(answer);
      return;
    }
    this.waiting.delete(answer.id);
    // Edits are answered together, with the last of them.
    if (answer.do === "edit") for (const [id, other] of this.waiting) if (id < answer.id && other.channel === "edit") this.waiting.delete(id);
    if (answer.error !== undefined) question.reject(new Error(answer.error));
    else question.resolve(answer);
  }

  close() {
    this.ended = true;
    this.socket.close();
  }
}
