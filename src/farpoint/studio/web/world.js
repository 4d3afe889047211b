// @ts-check
// The world as the page draws it, from the server's frames.

// Of these all values are shown at first; of what is carried, or which door is open, those of the first state.
const ANY_FIRST = ["facing", "state of the cell"];

export function makeWorld(answer, before = null) {
  const world = {
    name: answer.name, n: answer.n_states, drawn: answer.drawn, editable: answer.editable,
    env: answer.env ?? false, start: answer.start, first: answer.first, targets: answer.targets, note: answer.note, labels: answer.labels ?? [], log: answer.log ?? false, stale: false,
  };
  if (answer.drawn === "map") {
    world.rows = answer.rows;
    world.cols = answer.cols;
    // While a stroke goes on, the page's own cells are newer than the server's.
    world.cells = before ? before.cells : answer.cells.slice();
    world.stateCell = answer.state_cell ?? countStates(answer.cells ?? world.cells, world.n);
    world.cellState = new Int32Array(world.rows * world.cols).fill(-1);
    world.shared = false;
    // Several states in one cell differ in these: which values are shown, -1 for any.
    world.slices = answer.slices ?? [];
    world.sliceOf = world.slices.map((_, index) => answer[`slice${index}`]);
    world.shownSlices = world.slices.map(({ name }, index) => (ANY_FIRST.includes(name) ? -1 : world.sliceOf[index][world.first]));
    // Whether all states are shown, whatever was chosen.
    world.whole = false;
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

// Whether a state has the values that were chosen.
export function isShown(world, state) {
  return !world.slices || world.whole || world.shownSlices.every((value, index) => value < 0 || world.sliceOf[index][state] === value);
}

// How often an agent was in a cell: visits of all its states, whichever of them are shown.
export function cellTotals(world, visits) {
  if (!world.shared) return visits;
  const totals = new Float32Array(world.rows * world.cols);
  visits.forEach((count, state) => (totals[world.stateCell[state]] += count));
  return visits.map((_, state) => totals[world.stateCell[state]]);
}

// Of several states in one cell (an agent that turns on the spot) the highest is shown, of those that were chosen.
export function showHighest(world, values) {
  if (!world.shared) return;
  world.cellState.fill(-1);
  for (let state = 0; state < world.n; state++) {
    if (!isShown(world, state)) continue;
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
  const kind = world.log ? "cell" : "node";
  return `${kind} ${world.labels[hit] || hit}`;
}

// Where a state is, as numbers (or the name of a node).
export function placeOf(world, state) {
  if (world.drawn !== "map") return [world.labels[state] ?? state];
  const cell = world.stateCell[state];
  return [Math.floor(cell / world.cols), cell % world.cols];
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
