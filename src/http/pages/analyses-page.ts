import { html } from 'hono/html'

import type { RunState, StoredDefinition, StoredRun } from '../../store/ports/analysis-store.js'
import { formatNumber } from '../analysis-report/format-number.js'
import { toneOf } from '../analysis-report/tone.js'
import { tokenField } from './layout.js'
import type { Html, PageContent, Viewer } from './layout.js'
import { filterForm, pager, table } from './lists.js'
import { empty, executionLink, link, moment } from './parts.js'
import { runVerdict } from './run-table.js'

const PATH = '/ui/analyses'
const STATES = ['', 'RUNNING', 'COMPLETED', 'CANCELLED'] as const

/** A definition with the latest runs of its application, newest first. */
export interface ShownDefinition {
  readonly definition: StoredDefinition
  readonly latest: readonly StoredRun[]
}

export interface ShownAnalyses {
  readonly application: string
  readonly state: RunState | ''
  readonly runs: readonly StoredRun[]
  readonly cursor: string | undefined
  readonly nextCursor: string | undefined
  /** Undefined if the list is filtered or is not the first page. */
  readonly definitions: readonly ShownDefinition[] | undefined
}

/** Renders analyses, newest first, and the defined applications with their latest scores. */
export function analysesPage(shown: ShownAnalyses, viewer: Viewer): PageContent {
  const { application, state, runs, cursor, nextCursor, definitions } = shown
  const body = html`<h1>Analyses</h1>
    ${filterForm(
      PATH,
      [
        { name: 'application', label: 'Application', value: application },
        {
          name: 'state',
          label: 'State',
          value: state,
          options: STATES.map((each) => [each, each === '' ? 'any' : each.toLowerCase()]),
        },
      ],
      viewer,
    )}
    ${runs.length === 0 ? nothing(shown, viewer) : runTable(runs, viewer)}
    ${pager({ path: PATH, query: { application, state }, cursor, nextCursor }, viewer)}
    ${definitions === undefined ? '' : definitionSection(definitions, viewer)}`
  return { title: 'Analyses', body, section: PATH }
}

function nothing({ application, state, cursor }: ShownAnalyses, { prefix }: Viewer): Html {
  if (application !== '' || state !== '' || cursor !== undefined)
    return empty('No matching analyses.', link(prefix, PATH, 'Show all'))
  return empty('No analysis has run yet.', 'A verification stage starts one, or the form below.')
}

function runTable(runs: readonly StoredRun[], { prefix }: Viewer): Html {
  return table(runs, [
    {
      head: 'analysis',
      cell: ({ id, application }) => link(prefix, `/ui/runs/${id}`, `${application}, ${id}`),
      isPlain: true,
    },
    { head: 'verdict', cell: runVerdict, isPlain: true },
    { head: 'why', cell: ({ message }) => message, isQuote: true },
    {
      head: 'execution',
      cell: ({ executionId }) => (executionId === undefined ? '' : executionLink(prefix, executionId)),
    },
    { head: 'started', cell: ({ startedMs }) => moment(startedMs) },
    { head: 'interval', cell: ({ intervals, intervalsDone }) => `${intervalsDone} of ${intervals}` },
  ])
}

function definitionSection(definitions: readonly ShownDefinition[], viewer: Viewer): Html {
  const { prefix, roles } = viewer
  const how = html`Add a file to <code>analysis.definitions</code>, or see
    <code>tidegate analysis --help</code>.`
  return html`<h2>Defined applications (${definitions.length})</h2>
    ${
      definitions.length === 0
        ? empty('No analysis is defined.', how)
        : table(definitions, [
            {
              head: 'application',
              cell: ({ definition: { application } }) =>
                link(prefix, `${PATH}?application=${encodeURIComponent(application)}`, application),
              isPlain: true,
            },
            { head: 'latest scores', cell: ({ latest }) => scores(latest) },
            { head: 'defined', cell: ({ definition: { updatedMs } }) => moment(updatedMs) },
            { head: 'by', cell: ({ definition: { updatedBy, origin } }) => updatedBy ?? origin },
          ])
    }
    ${definitions.length > 0 && roles.includes('admin') ? startForm(definitions, viewer) : ''}`
}

const BAR = 8
const HEIGHT = 26
const WHOLE = 100
/** Width of the picture in bars, however many runs there are. */
const SLOTS = 12

/** Draws the scores of runs as bars from 0 to 100, oldest first. */
function scores(latest: readonly StoredRun[]): Html {
  const ended = latest.filter(({ score }) => score !== undefined).toReversed()
  if (ended.length === 0) return html`<span class="soft">none yet</span>`
  const text = `scores, oldest first: ${ended.map(({ score = 0 }) => formatNumber(score)).join(', ')}`
  return html`<svg
    class="trend"
    role="img"
    aria-label="${text}"
    viewBox="0 0 ${SLOTS * BAR} ${HEIGHT}"
    preserveAspectRatio="none"
  >
    <title>${text}</title>
    ${ended.map(({ score = 0, verdict = '' }, index) => {
      const height = Math.max(2, (score / WHOLE) * HEIGHT)
      return html`<rect
        class="mark ${toneOf(verdict)}"
        x="${index * BAR}"
        y="${HEIGHT - height}"
        width="${BAR - 2}"
        height="${height}"
      ></rect>`
    })}
  </svg>`
}

function startForm(definitions: readonly ShownDefinition[], viewer: Viewer): Html {
  return html`<h2>Start an analysis</h2>
    <form method="post" action="${viewer.prefix}${PATH}">
      ${tokenField(viewer)}
      <label for="application">Application</label>
      <select id="application" name="application">
        ${definitions.map(
          ({ definition: { application } }) => html`<option value="${application}">${application}</option>`,
        )}
      </select>
      <p class="soft">With the instances, sources and times of its definition.</p>
      <button>Start</button>
    </form>`
}
