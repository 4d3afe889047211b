// @ts-check
// What the words and marks on the page mean, in one place: tooltips say it, wherever a word stands.

export const TOUR = [
  "Bright cells are far points, seldom seen by a random walk; each circle is the goal of an option, a skill to get there.",
  "Slide t: short walks find many goals, long walks only the farthest.",
  "Press Play: an agent that uses these options, beside one that does not.",
];

export const WORDS = {
  goals: "Far points: states whose score is higher than that of every neighbor. Each is the goal of one option.",
  t: "Diffusion time: how many steps of the random walk the score looks ahead. Small t finds local far points, large t those of the whole world.",
  score: "f_t of every state: how far it is, in diffusion distance, from where a random walk usually is.",
  stationary: "How often a random walk is in a state, in the long run.",
  distance: "Diffusion distance from the state that you clicked: large where walks from both states seldom meet.",
  visits: "How often the agent of each panel came to a state, on one logarithmic scale for all panels.",
  prominence: "How far the score falls around a goal before it rises to a higher one, as a share of the highest score. Goals below this are hidden.",
  number: "How many options each method may make. Diffusion options: those with the highest scores.",
  probability: "How often an agent that acts at random takes an option where it could also take one step.",
  wind: "The probability that the wind moves the agent in place of its own action.",
  median: "Expected steps from a random state to a target, median over all targets. Lower is better.",
  mean: "Expected steps from a random state to a target, mean over all targets. Lower is better.",
  worst: "Expected steps to the target that takes longest. Lower is better.",
  cover: "Steps until every state was visited, mean of 40 walks. Lower is better.",
  first: "Steps until an agent first reaches a target, over all episodes: the interquartile mean of runs and its interval. Lower is better.",
  difficulty: "How hard this world is to cross: its number of states times the mean diffusion distance between two of them.",
};

const ICONS = {
  goal: '<circle cx="8" cy="8" r="5" fill="#fff" stroke="#20242c" stroke-width="1.8"/>',
  start: '<rect x="2" y="2" width="12" height="12" rx="3" fill="#fff" stroke="#20242c" stroke-width="1.4"/><text x="8" y="11.6" text-anchor="middle" font-size="10" font-weight="700" font-family="system-ui, sans-serif" fill="#20242c">S</text>',
  target: '<rect x="1" y="1" width="14" height="14" rx="3" fill="#26828e"/><path d="M8 3.5 12.5 8 8 12.5 3.5 8Z" fill="#fff" fill-opacity=".75"/>',
  picked: '<rect x="1" y="1" width="14" height="14" rx="3" fill="#26828e"/><rect x="3" y="3" width="10" height="10" fill="none" stroke="#fff" stroke-width="1.6" stroke-dasharray="2.4 2"/>',
  agent: '<circle cx="8" cy="8" r="5" fill="#e4572e" stroke="#fff" stroke-width="1.8"/>',
  route: '<path d="M2 12 8 5l6 4" fill="none" stroke="#e4572e" stroke-width="2.6" stroke-linecap="round" stroke-linejoin="round"/>',
};

// The legend below the map: [icon, name, meaning].
export const MARKS = [
  ["goal", "goal", "The goal of an option: where it leads. Those of diffusion options are far points. Click one to see the option's policy and its way there. Around an S: the start is a goal too."],
  ["start", "start", "Where agents begin."],
  ["target", "target", "Where a task ends: the table measures steps to every state, Q-learning goes to one target."],
  ["picked", "clicked", "The cell you clicked: routes, distances and learning start or end there."],
  ["agent", "agent", "An agent at play, with its last steps behind it."],
  ["route", "way", "The way of the option that you clicked, or of the policy that was learned."],
];

export function icon(name) {
  return `<svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">${ICONS[name]}</svg>`;
}
