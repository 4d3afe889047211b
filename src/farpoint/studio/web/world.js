// The world as the page draws it, from the server's frames.

export function makeWorld(answer, before = null) {
  const world = {
    name: answer.name, n: answer.n_states, nChoices: answer.n_choices, drawn: answer.drawn, editable: answer.editable, episodes: answer.episodes,
    symmetric: answer.symmetric, start: answer.start, targets: answer.targets, note: answer.note, labels: answer.labels ?? [], stale: false,
  };
  if (answer.drawn === "map") {
    world.rows = answer.rows;
    world.cols = answer.cols;
    // While a stroke goes on, the page's own cells are newer than the server's.
    world.cells = before ? before.cells : answer.cells.slice();
    world.stateCell = answer.state_cell ?? countStates(answer.cells ?? world.cells, world.n);
    world.cellState = new Int32Array(world.rows * world.cols).fill(-1);
    world.shared = false;
    for (let state = world.n - 1; state >= 0; state--) {
      if (world.cellState[world.stateCell[state]] >= 0) world.shared = true;
      world.cellState[world.stateCell[state]] = state;
    }
    return world;
  }
  world.links = answer.links;
  Object.assign(world, unitPlaces(answer.places));
  return world;
}

// The cell of every state where all floor cells are states, counted row by row.
function countStates(cells, n) {
  const stateCell = new Int32Array(n);
  for (let cell = 0, state = 0; cell < cells.length && state < n; cell++) if (cells[cell]) stateCell[state++] = cell;
  return stateCell;
}

// Places of a graph in a box of about one unit per node, so that a graph is fitted and zoomed as a map is.
function unitPlaces(places) {
  const n = places.length / 2;
  const low = [Infinity, Infinity];
  const high = [-Infinity, -Infinity];
  places.forEach((value, index) => {
    low[index % 2] = Math.min(low[index % 2], value);
    high[index % 2] = Math.max(high[index % 2], value);
  });
  const [width, height] = [high[0] - low[0] || 1, high[1] - low[1] || 1];
  const size = Math.max(4, 1.6 * Math.sqrt(n));
  const factor = (size - 1) / Math.max(width, height);
  return {
    places: places.map((value, index) => (value - low[index % 2]) * factor + 0.5),
    cols: width * factor + 1,
    rows: height * factor + 1,
  };
}

// Of several states in one cell (an agent that turns on the spot) the highest is shown.
export function showHighest(world, values) {
  if (!world.shared) return;
  for (let state = 0; state < world.n; state++) {
    const cell = world.stateCell[state];
    const shown = world.cellState[cell];
    if (shown < 0 || values[state] > values[shown]) world.cellState[cell] = state;
  }
}

export function stateAt(world, hit) {
  if (hit < 0) return -1;
  return world.drawn === "map" ? world.cellState[hit] : hit;
}

export function placeName(world, hit) {
  if (world.drawn === "map") return `row ${Math.floor(hit / world.cols)}, column ${hit % world.cols}`;
  return world.labels[hit] ? `node ${world.labels[hit]}` : `node ${hit}`;
}

// The next state in the direction of an arrow key, in a graph.
export function towards(world, from, dx, dy) {
  let [best, least] = [from, Infinity];
  for (let state = 0; state < world.n; state++) {
    const [x, y] = [world.places[2 * state] - world.places[2 * from], world.places[2 * state + 1] - world.places[2 * from + 1]];
    const along = x * dx + y * dy;
    const aside = Math.abs(x * dy) + Math.abs(y * dx);
    if (along > 1e-6 && along + 2.5 * aside < least) [best, least] = [state, along + 2.5 * aside];
  }
  return best;
}
