"""The Studio: draw a world in the browser, slide t, and watch far points, options and agents (extra ``studio``)."""
