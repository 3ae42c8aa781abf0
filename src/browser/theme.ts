import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import type { Extension } from '@codemirror/state'
import { EditorView } from '@codemirror/view'
import { tags } from '@lezer/highlight'

/** The colours of the page, so that the editor follows light and dark mode and print. */
export const THEME: readonly Extension[] = [
  EditorView.theme({
    '&': {
      border: '1px solid var(--soft)',
      borderRadius: '6px',
      background: 'var(--paper)',
      color: 'var(--ink)',
    },
    '&.cm-focused': { outline: '3px solid var(--canary)', outlineOffset: '2px' },
    '.cm-scroller': { font: '.85rem/1.5 ui-monospace, monospace', minHeight: '12rem', maxHeight: '34rem' },
    '.cm-content': { caretColor: 'var(--ink)', minWidth: '0' },
    '.cm-cursor': { borderLeftColor: 'var(--ink)' },
    '.cm-gutters': { background: 'var(--card)', color: 'var(--soft)', borderRight: '1px solid var(--line)' },
    '.cm-activeLine, .cm-activeLineGutter': { background: 'transparent' },
    '&.cm-focused .cm-activeLineGutter': { color: 'var(--ink)', fontWeight: '700' },
    '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
      background: 'color-mix(in srgb, var(--link) 28%, transparent)',
    },
    '.cm-tooltip': { background: 'var(--card)', color: 'var(--ink)', border: '1px solid var(--line)' },
    '.cm-diagnostic': { whiteSpace: 'pre-wrap', maxWidth: '40rem' },
    // The images of the lint package are data URLs, which the CSP forbids.
    '.cm-lint-marker-error': {
      ...{ content: 'normal', width: '.7em', height: '.7em', margin: '.25em auto' },
      ...{ borderRadius: '50%', background: 'var(--bad)' },
    },
    '.cm-lintRange-error': { backgroundImage: 'none', textDecoration: 'underline wavy var(--bad)' },
    '.cm-line.covered': { boxShadow: 'inset 4px 0 var(--good)' },
    '.cm-line.uncovered': {
      boxShadow: 'inset 4px 0 var(--bad)',
      background: 'color-mix(in srgb, var(--bad) 9%, transparent)',
    },
    '.coverage': { width: '1rem', textAlign: 'center' },
  }),
  syntaxHighlighting(
    HighlightStyle.define([
      { tag: tags.keyword, color: 'var(--link)', fontWeight: '600' },
      { tag: [tags.string], color: 'var(--good)' },
      { tag: [tags.number, tags.atom], color: 'var(--doubt)' },
      { tag: [tags.propertyName, tags.special(tags.variableName)], color: 'var(--link)' },
      { tag: tags.comment, color: 'var(--soft)', fontStyle: 'italic' },
    ]),
  ),
]
