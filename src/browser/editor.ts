/**
 * Turns each `textarea[data-language]` of a page into an editor. The textarea keeps the text, so
 * that the form is sent as without a script.
 */

import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import {
  bracketMatching,
  indentUnit,
  HighlightStyle,
  syntaxHighlighting,
  StreamLanguage,
} from '@codemirror/language'
import type { StreamParser, StringStream } from '@codemirror/language'
import { lintGutter, linter, lintKeymap, setDiagnostics } from '@codemirror/lint'
import type { Diagnostic } from '@codemirror/lint'
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search'
import { EditorSelection, RangeSetBuilder } from '@codemirror/state'
import type { EditorState, Extension, Text } from '@codemirror/state'
import {
  Decoration,
  EditorView,
  GutterMarker,
  drawSelection,
  gutter,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from '@codemirror/view'
import type { DecorationSet } from '@codemirror/view'
import { tags } from '@lezer/highlight'

/** A problem at a line, as the server renders it. Rows and columns count from 1. */
interface Problem {
  readonly row: number
  readonly column?: number
  readonly message: string
}

/** Numbers of lines. */
interface Coverage {
  readonly covered: readonly number[]
  readonly uncovered: readonly number[]
}

const NONCE = document.currentScript?.nonce ?? ''
const HELP =
  'Tab indents. Press Escape and then Tab to leave the editor. Ctrl+F searches, Ctrl+Enter sends the form.'

function open(area: HTMLTextAreaElement): void {
  const help = document.createElement('p')
  help.className = 'soft'
  help.id = `${area.id}-help`
  help.textContent = HELP
  const label = area.labels[0]
  const coverage = read(area.dataset['coverage']) as Coverage | undefined
  const view = new EditorView({
    doc: area.value,
    extensions: [
      EditorView.cspNonce.of(NONCE),
      lineNumbers(),
      highlightActiveLineGutter(),
      history(),
      drawSelection(),
      bracketMatching(),
      indentUnit.of('  '),
      LANGUAGES[area.dataset['language'] ?? ''] ?? [],
      THEME,
      search({ top: true }),
      highlightSelectionMatches(),
      lintGutter(),
      area.dataset['language'] === 'json' ? linter(({ state }) => jsonProblems(state)) : [],
      coverage === undefined ? [] : shownCoverage(coverage),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({
        'aria-label': label?.textContent.trim() ?? '',
        'aria-describedby': help.id,
        tabindex: '0',
      }),
      keymap.of([
        { key: 'Mod-Enter', run: () => send(area) },
        ...[...searchKeymap, indentWithTab, ...defaultKeymap, ...historyKeymap, ...lintKeymap],
      ]),
      EditorView.updateListener.of(({ docChanged, state }) => {
        if (docChanged) area.value = state.doc.toString()
      }),
    ],
  })
  area.after(view.dom, help)
  // A required field that is hidden would keep the form from being sent.
  area.required = false
  area.hidden = true
  label?.addEventListener('click', () => view.focus())
  const problems = (read(area.dataset['problems']) ?? []) as readonly Problem[]
  if (problems.length > 0)
    view.dispatch(
      setDiagnostics(
        view.state,
        problems.map((problem) => diagnosticOf(view.state.doc, problem)),
      ),
    )
  const row = Number(area.dataset['row'] ?? problems[0]?.row ?? 0)
  if (row > 0) goTo(view, row)
  if (area.dataset['row'] !== undefined) view.focus()
}

function read(json: string | undefined): unknown {
  return json === undefined ? undefined : JSON.parse(json)
}

function send(area: HTMLTextAreaElement): boolean {
  area.form?.requestSubmit()
  return true
}

function lineAt(doc: Text, row: number): { readonly from: number; readonly to: number } {
  return doc.line(Math.min(Math.max(1, row), doc.lines))
}

function goTo(view: EditorView, row: number): void {
  const { from, to } = lineAt(view.state.doc, row)
  view.dispatch({
    selection: EditorSelection.range(to, from),
    effects: EditorView.scrollIntoView(from, { y: 'center' }),
  })
}

function diagnosticOf(doc: Text, { row, column = 1, message }: Problem): Diagnostic {
  const { from, to } = lineAt(doc, row)
  return { from: Math.min(from + column - 1, to), to, severity: 'error', message }
}

/** Browsers name the place of a mistake in JSON in their own words. */
function jsonProblems({ doc }: EditorState): readonly Diagnostic[] {
  const text = doc.toString()
  if (text.trim() === '') return []
  try {
    JSON.parse(text)
    return []
  } catch (raw) {
    const message = raw instanceof Error ? raw.message : String(raw)
    const [, row, column] = /line (\d+) column (\d+)/.exec(message) ?? []
    const position = /position (\d+)/.exec(message)?.[1]
    if (row !== undefined) return [diagnosticOf(doc, { row: Number(row), column: Number(column), message })]
    const from = position === undefined ? doc.length : Math.min(Number(position), doc.length)
    return [{ from, to: Math.min(from + 1, doc.length), severity: 'error', message }]
  }
}

class CoverageMark extends GutterMarker {
  readonly isCovered: boolean
  constructor(isCovered: boolean) {
    super()
    this.isCovered = isCovered
  }
  override toDOM(): Node {
    const mark = document.createElement('span')
    mark.textContent = this.isCovered ? '✓' : '✗'
    mark.title = this.isCovered ? 'evaluated' : 'not evaluated'
    return mark
  }
}

/** Marks the evaluated lines, and those that were not, until the text changes. */
function shownCoverage({ covered, uncovered }: Coverage): Extension {
  const isCovered = new Map([
    ...covered.map((row) => [row, true] as const),
    ...uncovered.map((row) => [row, false] as const),
  ])
  const decorate = (doc: Text): DecorationSet => {
    const builder = new RangeSetBuilder<Decoration>()
    for (const [row, is] of [...isCovered].sort(([a], [b]) => a - b)) {
      if (row > doc.lines) continue
      const { from } = doc.line(row)
      builder.add(from, from, Decoration.line({ class: is ? 'covered' : 'uncovered' }))
    }
    return builder.finish()
  }
  let initial: Text | undefined
  const isUnchanged = ({ state }: EditorView): boolean => (initial ??= state.doc).eq(state.doc)
  return [
    EditorView.decorations.of((view) => (isUnchanged(view) ? decorate(view.state.doc) : Decoration.none)),
    gutter({
      class: 'coverage',
      lineMarker: (view, { from }) => {
        const is = isCovered.get(view.state.doc.lineAt(from).number)
        return is === undefined || !isUnchanged(view) ? null : new CoverageMark(is)
      },
      lineMarkerChange: ({ docChanged }) => docChanged,
    }),
  ]
}

/** The colours of the page, so that the editor follows light and dark mode and print. */
const THEME: readonly Extension[] = [
  EditorView.theme({
    '&': {
      border: '1px solid var(--soft)',
      borderRadius: '6px',
      background: 'var(--paper)',
      color: 'var(--ink)',
    },
    '&.cm-focused': { outline: '3px solid var(--canary)', outlineOffset: '2px' },
    '.cm-scroller': { font: '.85rem/1.5 ui-monospace, monospace', minHeight: '12rem', maxHeight: '34rem' },
    '.cm-content, .cm-gutter': { minHeight: '12rem' },
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

/** Text that continues on the next line: a raw string of Rego. */
interface LineState {
  isRaw: boolean
}

const REGO_WORDS = new Set(
  'as contains default else every false if import in not null package some true with'.split(' '),
)
const REGO_ATOMS = new Set(['true', 'false', 'null'])

const rego: StreamParser<LineState> = {
  startState: () => ({ isRaw: false }),
  token: (stream, state) => {
    if (state.isRaw || stream.match('`') !== null) return rawString(stream, state)
    if (stream.eatSpace()) return null
    if (stream.match(/^#.*/) !== null) return 'comment'
    if (stream.match(/^\$?"(?:\\.|[^"\\])*"?/) !== null) return 'string'
    if (stream.match(/^-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/) !== null) return 'number'
    if (stream.match(/^[A-Za-z_]\w*/) !== null) return wordOf(stream)
    if (stream.match(/^(?::=|==|!=|<=|>=|[-+*/%&|<>=])/) !== null) return 'operator'
    stream.next()
    return null
  },
  languageData: { commentTokens: { line: '#' }, closeBrackets: { brackets: ['(', '[', '{', '"'] } },
}

function rawString(stream: StringStream, state: LineState): string {
  state.isRaw = !stream.skipTo('`')
  if (state.isRaw) stream.skipToEnd()
  else stream.next()
  return 'string'
}

function wordOf(stream: StringStream): string {
  const word = stream.current()
  if (REGO_ATOMS.has(word)) return 'atom'
  if (REGO_WORDS.has(word)) return 'keyword'
  return word === 'input' || word === 'data' ? 'variableName.special' : 'variableName'
}

/** JSON, and YAML as far as documents of analyses use it. */
const data: StreamParser<null> = {
  startState: () => null,
  token: (stream) => {
    if (stream.eatSpace()) return null
    if (stream.match(/^#.*/) !== null) return 'comment'
    if (stream.match(/^(?:"(?:\\.|[^"\\])*"?|'(?:''|[^'])*'?)/) !== null)
      return stream.match(/^\s*:/, false) === null ? 'string' : 'propertyName'
    if (stream.match(/^[A-Za-z_][\w.-]*(?=\s*:(?:\s|$))/) !== null) return 'propertyName'
    if (stream.match(/^-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.-])/) !== null) return 'number'
    if (stream.match(/^(?:true|false|null)\b/) !== null) return 'atom'
    if (stream.match(/^[^\s"'#,:[\]{}]+/) !== null) return 'string'
    stream.next()
    return null
  },
}

/** Highlighting by the value of `data-language`. */
const LANGUAGES: Readonly<Record<string, StreamLanguage<unknown>>> = {
  rego: StreamLanguage.define(rego),
  json: StreamLanguage.define(data),
  yaml: StreamLanguage.define(data),
}

// The constants above have their values here.
for (const area of document.querySelectorAll<HTMLTextAreaElement>('textarea[data-language]')) open(area)
