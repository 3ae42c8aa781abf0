/* global window */
// deck: the origin of the links of the stages (/ui/plugin-isd/…), without a trailing slash.
window.uiUrl = 'https://deck.example.org'
