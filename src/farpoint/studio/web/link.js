// @ts-check
// The socket to the server: questions go up as frames, answers come down as frames of arrays.

const TYPES = { u1: Uint8Array, i4: Int32Array, f4: Float32Array, f8: Float64Array };
const ALIGNMENT = 8;

function codeOf(array) {
  return Object.keys(TYPES).find((code) => array instanceof TYPES[code]);
}

export function pack(header, arrays = {}) {
  const listed = Object.entries(arrays).map(([name, array]) => [name, codeOf(array), array.length]);
  const text = new TextEncoder().encode(JSON.stringify({ ...header, arrays: listed }));
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

// A question that nobody waits for any longer: another took its place, or it was called off.
export class Superseded extends Error {
  name = "AbortError";
}

// The server is away; the link goes on trying, and says so by itself.
export class Offline extends Error {
  name = "Offline";
}

const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 4000;

// Every question settles: with its answer, with the server's error, as superseded, or as offline.
export class Link {
  // `onClose` is told whether the server refuses this page (it was started again, with another token).
  constructor(onOpen, onClose) {
    this.onOpen = onOpen;
    this.onClose = onClose;
    this.waiting = new Map();
    this.latest = new Map();
    this.number = 0;
    this.delay = FIRST_DELAY_MS;
    this.connect();
    // A page that is left may be kept whole by the browser, its socket too: the server lets go of it until it is back.
    window.addEventListener("pagehide", () => this.close());
    window.addEventListener("pageshow", (event) => event.persisted && this.connect());
  }

  connect() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}/studio/socket`);
    this.socket = socket;
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.delay = FIRST_DELAY_MS;
      this.onOpen();
    };
    socket.onmessage = (event) => this.receive(unpack(event.data));
    socket.onclose = () => {
      if (this.socket === socket) this.lost();
    };
  }

  async lost() {
    for (const id of [...this.waiting.keys()]) this.settle(id, new Offline("The server does not answer."));
    const refused = await fetch("studio/health").then((answer) => answer.status === 401, () => false);
    if (this.socket === null) return;
    this.onClose(refused);
    this.timer = setTimeout(() => this.connect(), this.delay);
    this.delay = Math.min(LONGEST_DELAY_MS, this.delay * 2);
  }

  get open() {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  ask(header, arrays = {}, onPart = null) {
    const id = ++this.number;
    const channel = header.channel ?? header.do;
    // Every edit counts; of everything else the last one.
    if (channel !== "edit") {
      this.settle(this.latest.get(channel), new Superseded(channel));
      this.latest.set(channel, id);
    }
    return new Promise((resolve, reject) => {
      if (!this.open) return reject(new Offline("The server does not answer."));
      this.waiting.set(id, { resolve, reject, onPart, channel });
      this.socket.send(pack({ ...header, channel, id }, arrays));
    });
  }

  cancel(channel) {
    this.settle(this.latest.get(channel), new Superseded(channel));
    if (this.open) this.socket.send(pack({ do: "cancel", channel }));
  }

  receive(answer) {
    const question = this.waiting.get(answer.id);
    if (!question) return;
    if (answer.part) return question.onPart?.(answer);
    // Edits are answered together, with the last of them.
    if (answer.do === "edit") for (const [id, other] of [...this.waiting]) if (id < answer.id && other.channel === "edit") this.settle(id, new Superseded("edit"));
    this.settle(answer.id, answer.error === undefined ? answer : new Error(answer.error));
  }

  settle(id, outcome) {
    const question = this.waiting.get(id);
    if (!question) return;
    this.waiting.delete(id);
    if (this.latest.get(question.channel) === id) this.latest.delete(question.channel);
    if (outcome instanceof Error) question.reject(outcome);
    else question.resolve(outcome);
  }

  close() {
    const { socket } = this;
    this.socket = null;
    clearTimeout(this.timer);
    socket?.close();
    for (const id of [...this.waiting.keys()]) this.settle(id, new Superseded("closed"));
  }
}
