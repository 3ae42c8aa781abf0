/* global window */
// deck: where the links of the stages lead, /ui/plugin-isd/… below it. No slash at its end.
window.uiUrl = 'https://deck.example.org'
