// @ts-check
// The page begins here: it keeps the token out of the address, asks for its settings and builds itself.
import { App } from "./app.js";

const address = new URL(location.href);
if (address.searchParams.has("token")) {
  // The cookie holds it by now; in the address it would be copied, bookmarked and seen over a shoulder.
  address.searchParams.delete("token");
  history.replaceState(history.state, "", address);
}
const settings = await (await fetch("studio/settings")).json();
/** @type {any} */ (window).farpointStudio = new App(document.getElementById("studio"), settings);
