/**
 * Turns each `textarea[data-language]` of a page into an editor. The textarea keeps the text, so
 * that the form is sent as without a script.
 */
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { bracketMatching, indentUnit } from '@codemirror/language'
import { lintGutter, linter, lintKeymap, setDiagnostics } from '@codemirror/lint'
import type { Diagnostic } from '@codemirror/lint'
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

import { LANGUAGES } from './languages.js'
import { THEME } from './theme.js'

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
const HELP = 'Tab indents. Press Escape and then Tab to leave the editor. Ctrl+Enter sends the form.'

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
        ...[indentWithTab, ...defaultKeymap, ...historyKeymap, ...lintKeymap],
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

for (const area of document.querySelectorAll<HTMLTextAreaElement>('textarea[data-language]')) open(area)
