import { html } from 'hono/html'

import type { Timeline, TimelineEntry } from '../../audit/execution-timeline.js'
import type { ExecutionFacts } from '../../events/execution-facts.js'
import type { StoredRun } from '../../store/ports/analysis-store.js'
import type { GateInstance } from '../../store/ports/gate-instance.js'
import { badge } from '../analysis-report/tone.js'
import { instanceLine } from './approval-lists.js'
import type { Html, PageContent, Viewer } from './layout.js'
import { table, withQuery } from './lists.js'
import { clock, decisionPath, facts, link, moment, personText, toneOfState } from './parts.js'
import { runLine } from './run-table.js'

/** Timeline of an execution. */
export type ShownTimeline = Pick<Timeline, 'executionId' | 'entries' | 'isTruncated'>

/** Everything that is known about an execution. */
export interface ShownExecution {
  readonly timeline: Timeline
  readonly subject: ExecutionFacts | undefined
  readonly instances: readonly GateInstance[]
  readonly runs: readonly StoredRun[]
  readonly nowMs: number
}

/** Renders an execution: its facts, a picture of its time, and everything that happened. */
export function executionPage(shown: ShownExecution, viewer: Viewer): PageContent {
  const { timeline, subject, instances, runs, nowMs } = shown
  const { executionId, application, pipeline } = timeline
  const body = html`<h1>
      Execution of ${subject?.pipeline ?? pipeline ?? application ?? 'an unknown pipeline'}
    </h1>
    ${facts([
      ['execution', html`<code>${executionId}</code>`],
      ['application', application],
      ['pipeline', subject?.pipeline ?? pipeline],
      ['triggered by', subject?.triggeredBy],
      [
        'artifacts',
        subject?.artifacts.map(({ name, version = '' }) => `${name} ${version}`.trim()).join('\n'),
      ],
    ])}
    <h2>Timeline</h2>
    ${picture(timeline.entries, viewer)} ${timelineTable(timeline, viewer, MAX_ROWS)}
    <h2>Approvals</h2>
    ${
      instances.length === 0
        ? html`<p class="none">No approval belongs to this execution.</p>`
        : html`<ul class="plain-list">
            ${instances.map((instance) => html`<li>${instanceLine(instance, nowMs, viewer)}</li>`)}
          </ul>`
    }
    <h2>Analyses</h2>
    ${
      runs.length === 0
        ? html`<p class="none">No analysis belongs to this execution.</p>`
        : html`<ul class="plain-list">
            ${runs.map((run) => html`<li>${runLine(run, viewer)}</li>`)}
          </ul>`
    }`
  return { title: `Execution ${executionId}`, body }
}

const MAX_ROWS = 500
const MAX_ON_OTHER_PAGES = 20

/** Renders the entries of a timeline as a table, oldest first. */
export function timelineTable(
  { entries, isTruncated, executionId }: ShownTimeline,
  { prefix, roles }: Viewer,
  limit = MAX_ON_OTHER_PAGES,
): Html {
  if (entries.length === 0) return html`<p class="none">No event of this execution was recorded.</p>`
  const isAuditor = roles.includes('auditor')
  const shown = entries.slice(0, limit)
  const trail = withQuery('/ui/trail', { executionId })
  const rest =
    limit === MAX_ON_OTHER_PAGES
      ? link(prefix, `/ui/executions/${encodeURIComponent(executionId)}`, 'Show the whole execution')
      : isAuditor
        ? link(prefix, trail, 'List all in the trail')
        : ''
  return html`${table(shown, [
    { head: 'when', cell: ({ at }) => moment(at), isPlain: true },
    {
      head: 'what',
      cell: (entry) => (isAuditor ? entryLink(entry, prefix) : entryName(entry)),
      isPlain: true,
    },
    { head: 'stage', cell: ({ stage }) => stage ?? '' },
    { head: 'who', cell: ({ user }) => personText(user) },
    { head: 'status', cell: ({ status }) => (status ? badge(status, toneOfState(status)) : '') },
  ])}
  ${isTruncated || entries.length > limit ? html`<p class="soft">Showing the first ${shown.length} entries. ${rest}</p>` : ''}`
}

function entryName({ kind, path }: TimelineEntry): Html {
  return html`<code>${kind}</code> ${path ?? ''}`
}

function entryPath({ decisionId, auditSeq }: TimelineEntry): string | undefined {
  if (decisionId !== undefined) return decisionPath(decisionId)
  return auditSeq === undefined ? undefined : `/ui/trail/${auditSeq}`
}

function entryLink(entry: TimelineEntry, prefix: string): Html {
  const path = entryPath(entry)
  return path === undefined ? entryName(entry) : html`<a href="${prefix}${path}">${entryName(entry)}</a>`
}

const WIDTH = 1000
const LANE = 44
const LEFT = 150
const RIGHT = 20
/** Entries in the picture. The table below it has more. */
const MAX_MARKS = 400

/** Draws the entries on a line for each source. Marks link to their records. */
function picture(entries: readonly TimelineEntry[], { prefix, roles }: Viewer): Html {
  const shown = entries.slice(0, MAX_MARKS)
  const [first] = shown
  if (first === undefined) return html``
  const sources = [...new Set(shown.map(({ source }) => source))]
  const start = Date.parse(first.at)
  const length = Math.max(1, Date.parse(shown.at(-1)?.at ?? first.at) - start)
  const height = sources.length * LANE + 44
  const x = ({ at }: TimelineEntry): string =>
    (LEFT + ((Date.parse(at) - start) / length) * (WIDTH - LEFT - RIGHT)).toFixed(1)
  const isLinked = roles.includes('auditor')
  const mark = (entry: TimelineEntry): Html => {
    const y = sources.indexOf(entry.source) * LANE + LANE / 2
    const tone = toneOfState(entry.status ?? '')
    const label = [entry.kind, entry.stage, entry.status, clock(Date.parse(entry.at))]
      .filter(Boolean)
      .join(', ')
    const path = isLinked ? entryPath(entry) : undefined
    const circle = html`<circle class="mark ${tone}" cx="${x(entry)}" cy="${y}" r="8"
      ><title>${label}</title></circle
    >`
    return path === undefined ? circle : html`<a href="${prefix}${path}" aria-label="${label}">${circle}</a>`
  }
  return html`<div class="wide picture" tabindex="0" role="group" aria-label="Timeline as a picture">
    <svg viewBox="0 0 ${WIDTH} ${height}">
      ${sources.map(
        (source, index) =>
          html`<rect
              class="lane"
              x="${LEFT - 10}"
              y="${index * LANE + 5}"
              width="${WIDTH - LEFT - RIGHT + 20}"
              height="${LANE - 10}"
              rx="6"
            ></rect>
            <text x="0" y="${index * LANE + LANE / 2 + 4}">${source}</text>`,
      )}
      ${shown.map(mark)}
      <text class="tick" x="${LEFT}" y="${height - 10}">${clock(start)}</text>
      <text class="tick end" x="${WIDTH - RIGHT}" y="${height - 10}">${clock(start + length)}</text>
    </svg>
  </div>`
}
