import { html } from 'hono/html'

import type { InstancePage } from '../../gates/instances/list-instances.js'
import type { InstanceState } from '../../store/ports/gate-instance.js'
import { instanceTable } from './approval-lists.js'
import type { Html, PageContent, Viewer } from './layout.js'
import { filterForm, pager, withQuery } from './lists.js'
import { empty, wordOfState } from './parts.js'

/** Filter of the list: one state or all. */
export interface ApprovalFilter {
  readonly status: InstanceState | 'all'
  readonly search: string
  readonly application: string
  /** True to list only what waits for the viewer's approval. */
  readonly isMine: boolean
  readonly gate?: number | undefined
}

export interface ShownApprovals {
  readonly filter: ApprovalFilter
  readonly page: InstancePage
  /** Cursor of this page; undefined on the first. */
  readonly cursor: string | undefined
  /** The latest instances in any state; undefined if the list is filtered. */
  readonly latest: InstancePage | undefined
  readonly nowMs: number
}

const PATH = '/ui/approvals'
const STATES = ['activated', 'approved', 'rejected', 'canceled', 'expired', 'not_activated', 'all'] as const

/** Renders the selected instances, waiting ones by deadline, and the latest instances. */
export function approvalsPage(shown: ShownApprovals, viewer: Viewer): PageContent {
  const { filter, page, latest, nowMs, cursor } = shown
  const { instances, total, nextCursor } = page
  const position = { path: PATH, query: queryOf(filter), cursor, nextCursor }
  const body = html`<h1>Approvals</h1>
    ${filterOf(filter, viewer)}
    <h2>${headingOf(filter)} (${total})</h2>
    ${instances.length === 0 ? nothing(shown, viewer) : instanceTable(instances, nowMs, viewer)}
    ${instances.length < total ? html`<p class="soft">${instances.length} of ${total} on this page</p>` : ''}
    ${pager(position, viewer)}
    ${
      latest === undefined
        ? ''
        : html`<h2>Latest</h2>
            ${
              latest.instances.length === 0
                ? empty('No gate was triggered yet.', html`Declare one in <code>gates.definitions</code>.`)
                : instanceTable(latest.instances, nowMs, viewer)
            }
            ${latest.total > latest.instances.length ? html`<p><a href="${viewer.prefix}${PATH}?status=all">All ${latest.total} instances</a></p>` : ''}`
    }`
  return { title: 'Approvals', body, section: PATH }
}

function queryOf({ status, search, application, isMine, gate }: ApprovalFilter): Record<string, string> {
  return {
    status,
    search,
    application,
    mine: isMine ? 'true' : '',
    gate: gate === undefined ? '' : String(gate),
  }
}

function nothing({ filter, cursor }: ShownApprovals, { prefix }: Viewer): Html {
  const { search, application, gate, isMine, status } = filter
  const isFiltered = search !== '' || application !== '' || gate !== undefined || cursor !== undefined
  const all = html`<a href="${prefix}${PATH}">Show all that wait</a>`
  if (isFiltered) return empty('No matching instances.', all)
  if (isMine) return empty('Nothing waits for you.', all)
  return empty(status === 'activated' ? 'Nothing waits for a decision.' : 'No instances.')
}

function headingOf({ status, gate, isMine }: ApprovalFilter): string {
  const words =
    status === 'activated'
      ? isMine
        ? 'Waiting for me'
        : 'Waiting for a decision'
      : status === 'all'
        ? 'All instances'
        : wordOfState(status)
  const heading = words.charAt(0).toUpperCase() + words.slice(1)
  return gate === undefined ? heading : `${heading}, gate ${gate}`
}

function filterOf(filter: ApprovalFilter, viewer: Viewer): Html {
  const { status, search, application, isMine, gate } = filter
  const mine = withQuery(PATH, { ...queryOf({ ...filter, status: 'activated', isMine: !isMine }) })
  return html`${filterForm(
      PATH,
      [
        { name: 'search', label: 'Gate, application, execution or person', value: search },
        { name: 'application', label: 'Application', value: application },
        {
          name: 'status',
          label: 'State',
          value: status,
          options: STATES.map((state) => [state, state === 'all' ? 'all' : wordOfState(state)]),
        },
        ...(isMine
          ? [
              {
                name: 'mine',
                label: 'For',
                value: 'true',
                options: [
                  ['true', 'me'],
                  ['', 'everyone'],
                ],
              } as const,
            ]
          : []),
        ...(gate === undefined ? [] : [{ name: 'gate', label: 'Gate number', value: String(gate) }]),
      ],
      viewer,
    )}
    <p>
      <a href="${viewer.prefix}${mine}"
        >${isMine ? 'Show what waits for anyone' : 'Show what waits for me'}</a
      >
    </p>`
}
