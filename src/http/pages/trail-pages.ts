import { html } from 'hono/html'

import type { RecordView } from '../../audit/record-view.js'
import type { TrailPage } from '../../audit/search-trail.js'
import type { Verification } from '../../audit/verify-trail.js'
import { AUDIT_SOURCES } from '../../store/ports/audit-store.js'
import type { AuditSource } from '../../store/ports/audit-store.js'
import { isRecord } from '../../lib/validation/record.js'
import { badge } from '../analysis-report/tone.js'
import { jsonTree } from './json-tree.js'
import { tokenField } from './layout.js'
import type { Html, PageContent, Viewer } from './layout.js'
import { filterForm, pager, periodField, table, withQuery } from './lists.js'
import type { Period } from './lists.js'
import { decisionPath, empty, executionLink, facts, link, moment, personText, toneOfState } from './parts.js'

const PATH = '/ui/trail'

/** Filter of the trail; empty members match all. */
export interface TrailPageFilter {
  readonly q: string
  readonly source: AuditSource | ''
  readonly kind: string
  readonly application: string
  readonly executionId: string
  readonly user: string
  readonly period: Period
}

/** Values of a column among the newest matching records, most frequent first. */
export interface Facet {
  readonly name: 'source' | 'kind' | 'application' | 'user'
  readonly values: readonly { readonly value: string; readonly count: number }[]
}

export interface ShownTrail {
  readonly filter: TrailPageFilter
  readonly page: TrailPage
  readonly cursor: string | undefined
  readonly facets: readonly Facet[]
  /** Number of records in the facets. */
  readonly sampled: number
}

/** Renders a search of the trail with its facets, and the forms for export and verification. */
export function trailPage(
  { filter, page, cursor, facets, sampled }: ShownTrail,
  viewer: Viewer,
): PageContent {
  const { prefix } = viewer
  const { records, nextCursor } = page
  const body = html`<h1>Trail</h1>
    ${filterForm(
      PATH,
      [
        { name: 'q', label: 'Words', value: filter.q },
        {
          name: 'source',
          label: 'Source',
          value: filter.source,
          options: [['', 'any'], ...AUDIT_SOURCES.map((source) => [source, source] as const)],
        },
        { name: 'kind', label: 'Kind', value: filter.kind },
        { name: 'application', label: 'Application', value: filter.application },
        { name: 'executionId', label: 'Execution', value: filter.executionId },
        { name: 'user', label: 'Person', value: filter.user },
        periodField(filter.period),
      ],
      viewer,
    )}
    ${facetList(facets, sampled, filter, viewer)}
    ${
      records.length === 0
        ? empty('No matching records.', link(prefix, PATH, 'Show all'))
        : recordTable(records, viewer)
    }
    ${pager({ path: PATH, query: { ...filter }, cursor, nextCursor }, viewer)}
    <h2>Proof</h2>
    <div class="row">
      <form method="post" action="${prefix}${PATH}/verify">
        ${tokenField(viewer)}
        <button>Verify the whole trail</button>
      </form>
      ${exportLinks(filter, prefix)}
    </div>`
  return { title: 'Trail', body, section: PATH }
}

function exportLinks({ q, ...filter }: TrailPageFilter, prefix: string): Html {
  if (q !== '')
    return html`<span class="soft">Remove the words to export: an export uses the other filters.</span>`
  const path = (format: string): string => `${prefix}${withQuery(`${PATH}/export`, { ...filter, format })}`
  return html`<span
    >Export these records: <a href="${path('csv')}">CSV</a>, <a href="${path('ndjson')}">NDJSON</a></span
  >`
}

function facetList(
  facets: readonly Facet[],
  sampled: number,
  filter: TrailPageFilter,
  { prefix }: Viewer,
): Html {
  const shown = facets.filter(({ name, values }) => filter[name] === '' && values.length > 1)
  if (shown.length === 0) return html``
  return html`<details>
    <summary>narrow down, by the newest ${sampled} records</summary>
    <div class="panels">
      ${shown.map(
        ({ name, values }) =>
          html`<section class="panel">
            <h2>${name}</h2>
            <ul>
              ${values.map(
                ({ value, count }) =>
                  html`<li>
                    ${link(prefix, withQuery(PATH, { ...filter, [name]: value }), value)} ${count}
                  </li>`,
              )}
            </ul>
          </section>`,
      )}
    </div>
  </details>`
}

function recordTable(records: readonly RecordView[], { prefix }: Viewer): Html {
  return table(records, [
    { head: 'record', cell: ({ seq }) => link(prefix, `${PATH}/${seq}`, String(seq)) },
    { head: 'when', cell: ({ at }) => moment(at) },
    { head: 'kind', cell: ({ kind }) => html`<code>${kind}</code>` },
    { head: 'application', cell: ({ application = '' }) => application },
    {
      head: 'execution',
      cell: ({ executionId }) => (executionId === undefined ? '' : executionLink(prefix, executionId)),
    },
    { head: 'person', cell: ({ user }) => personText(user) },
    { head: 'status', cell: ({ status }) => (status ? badge(status, toneOfState(status)) : '') },
  ])
}

/** Renders one record with its body. */
export function recordPage(record: RecordView, body: string, viewer: Viewer): PageContent {
  const { prefix } = viewer
  const { seq, executionId } = record
  const content: unknown = JSON.parse(body)
  const page = html`<h1>Record ${seq}</h1>
    ${facts([
      ['kind', html`<code>${record.kind}</code>`],
      ['source', record.source],
      ['happened', moment(record.at)],
      ['recorded', moment(record.recordedAt)],
      ['application', record.application],
      ['pipeline', record.pipeline],
      ['execution', executionId && executionLink(prefix, executionId)],
      ['about', subjectLink(record.source, content, prefix)],
      ['stage', record.stage],
      ['person', personText(record.user)],
      ['status', record.status],
      ['origin', record.origin],
      ['event', record.eventId],
      ['hash', html`<code>${record.hash}</code>`],
    ])}
    <h2>Content</h2>
    ${jsonTree(content)}
    <p class="pages">
      ${seq > 1 ? link(prefix, `${PATH}/${seq - 1}`, 'Record before') : ''}
      ${link(prefix, `${PATH}/${seq + 1}`, 'Record after')}
    </p>`
  return { title: `Record ${seq}`, body: page, section: PATH }
}

/** Links to the approval or decision that a record of the service is about. */
function subjectLink(source: string, content: unknown, prefix: string): Html | undefined {
  if (!isRecord(content)) return undefined
  const { instance, decisionId } = content
  if (source === 'gate' && typeof instance === 'number')
    return link(prefix, `/ui/approvals/${instance}`, `approval ${instance}`)
  if (source === 'policy' && typeof decisionId === 'string')
    return link(prefix, decisionPath(decisionId), `decision ${decisionId}`)
  return undefined
}

/** Renders the result of a verification. */
export function verificationPage(result: Verification, viewer: Viewer): PageContent {
  const { isIntact, problems, checked, end, startsAfterSeq, checkpoints, firstBadSeq } = result
  const tone = isIntact ? 'good' : 'bad'
  const body = html`<h1>Verification of the trail</h1>
    <section class="verdict ${tone}" role="status">
      <div>
        ${badge(isIntact ? 'intact' : 'not intact', tone)}
        ${problems.map((problem) => html`<p>${problem}</p>`)}
        ${facts([
          ['records checked', checked],
          ['first wrong record', firstBadSeq],
          ['removed by retention', startsAfterSeq === 0 ? undefined : `records up to ${startsAfterSeq}`],
          ['last record', end.seq],
          ['its hash', html`<code>${end.hash}</code>`],
          ['checkpoints', `${checkpoints.total}, signed ${checkpoints.signed}`],
          [
            'signatures',
            checkpoints.signaturesChecked
              ? `${checkpoints.verified} verified, through record ${checkpoints.verifiedThroughSeq}`
              : 'not checked: no key is configured',
          ],
        ])}
      </div>
    </section>
    <p>${link(viewer.prefix, PATH, 'Back to the trail')}</p>`
  return { title: 'Verification of the trail', body, section: PATH }
}
