import { html } from 'hono/html'
import { z } from 'zod'

import type { FleetBundle, FleetInstance } from '../../../distribution/fleet.js'
import { badge } from '../../analysis-report/tone.js'
import type { Html, PageContent, Viewer } from '../../pages/layout.js'
import { filterForm, pager, table } from '../../pages/lists.js'
import type { FilterField } from '../../pages/lists.js'
import { empty, link, longDuration, moment, toneOfState } from '../../pages/parts.js'
import { routesOf } from '../../pipeline/define-routes.js'
import { fleetInstances } from '../policies/fleet.js'
import { PAGE, showPage, viewerOf } from './page-route.js'
import type { PageRoutesDeps } from './page-route.js'

const PATH = '/ui/fleet'
const MAX_LISTED = 50
const MAX_SEARCH = 200
const HEALTH = ['', 'ok', 'failing', 'lost', 'behind'] as const
const FleetQuery = z.looseObject({
  search: z.string().trim().max(MAX_SEARCH).default(''),
  health: z.enum(HEALTH).default('').describe('`behind` selects instances with older policies.'),
  cursor: z.string().optional().describe('Id of the last instance of the previous page.'),
})
const { route } = routesOf<PageRoutesDeps>()

/** The page of the fleet. */
export const fleetPageRoutes = [
  route({
    ...PAGE,
    method: 'GET',
    path: PATH,
    roles: ['auditor'],
    summary: 'The instances of this fleet with version, revisions, health and last decision, as a page',
    query: FleetQuery,
    answer: async ({ exchange, query }, deps) =>
      showPage(fleetPage(await fleetInstances(deps.fleet), query, viewerOf(exchange, deps)), exchange, deps),
  }),
]

/** Renders a page of the matching instances, which are sorted by id. */
function fleetPage(
  instances: readonly FleetInstance[],
  { search, health, cursor }: z.output<typeof FleetQuery>,
  viewer: Viewer,
): PageContent {
  const { prefix } = viewer
  const matching = instances.filter((each) => hasHealth(each, health) && hasText(each, search))
  const rest = cursor === undefined ? matching : matching.filter(({ id }) => id > cursor)
  const listed = rest.slice(0, MAX_LISTED)
  const nextCursor = rest.length > MAX_LISTED ? listed.at(-1)?.id : undefined
  const body = html`<h1>Fleet</h1>
    <p class="row">
      <span>${fleetLine(instances)}</span> ${link(prefix, '/ui/operations', 'Operations of this one')}
    </p>
    ${instances.length > 1 ? filterForm(PATH, filterFields(search, health), viewer) : ''}
    ${matching.length === instances.length ? '' : html`<h2>Matching (${matching.length})</h2>`}
    ${matching.length === 0 ? empty('No matching instance.', link(prefix, PATH, 'Show all')) : instanceTable(listed)}
    ${pager({ path: PATH, query: { search, health }, cursor, nextCursor }, viewer)}
    ${
      instances.length > 1
        ? ''
        : empty(
            'No other instance has reported in the last hour.',
            html`Instances that share a database appear here by themselves. Others, and OPA, upload their
              status to <code>POST /status</code> with a token of the role <code>instance</code>: set their
              <code>status.url</code> to the address of this service.`,
          )
    }`
  return { title: 'Fleet', body, section: '/ui/operations' }
}

function instanceTable(instances: readonly FleetInstance[]): Html {
  return table(instances, [
    { head: 'instance', cell: instanceCell, isPlain: true },
    { head: 'health', cell: healthCell },
    { head: 'policies', cell: ({ bundles }) => html`${bundles.map(bundleLine)}` },
    { head: 'last decision', cell: ({ lastDecisionMs }) => moment(lastDecisionMs) || 'not known' },
    { head: 'last report', cell: reportCell },
  ])
}

function filterFields(search: string, health: (typeof HEALTH)[number]): readonly FilterField[] {
  return [
    { name: 'search', label: 'Instance, version, label or revision', value: search },
    {
      ...{ name: 'health', label: 'Health', value: health },
      options: HEALTH.map((each) => [
        each,
        each === '' ? 'any' : each === 'behind' ? 'older policies' : each,
      ]),
    },
  ]
}

function hasHealth({ health, bundles }: FleetInstance, wanted: (typeof HEALTH)[number]): boolean {
  return wanted === '' || (wanted === 'behind' ? bundles.some(isBehind) : health === wanted)
}

function hasText({ id, version = '', labels, bundles }: FleetInstance, search: string): boolean {
  const texts = [id, version, ...Object.values(labels), ...bundles.map(({ revision = '' }) => revision)]
  return texts.some((text) => text.toLowerCase().includes(search.toLowerCase()))
}

/** Renders the number of instances, and of those that need attention. */
export function fleetLine(instances: readonly FleetInstance[]): Html {
  const problems = [
    ['lost', 'bad', instances.filter(({ health }) => health === 'lost')],
    ['failing', 'bad', instances.filter(({ health }) => health === 'failing')],
    ['with older policies', 'doubt', instances.filter(({ bundles }) => bundles.some(isBehind))],
  ] as const
  return html`${instances.length} instance${instances.length === 1 ? '' : 's'}
  ${problems.map(([what, tone, those]) => (those.length === 0 ? '' : badge(`${those.length} ${what}`, tone)))}`
}

function isBehind({ lagMs }: FleetBundle): boolean {
  return lagMs > 0
}

function instanceCell({ id, type, version = 'of an unknown version', labels }: FleetInstance): Html {
  const named = Object.entries(labels).map(([name, value]) => `${name} ${value}`)
  return html`<code>${id}</code>
    <p class="soft">${[`${type === 'opa' ? 'OPA' : 'Tidegate'} ${version}`, ...named].join(' · ')}</p>`
}

function healthCell({ health, problem, startedMs }: FleetInstance): Html {
  return html`${badge(health, toneOfState(health))} ${problem === undefined ? '' : html`<p>${problem}</p>`}
  ${startedMs === undefined ? '' : html`<p class="soft">started ${moment(startedMs)}</p>`}`
}

function bundleLine({ name, revision = 'none', sinceMs, lagMs, problem }: FleetBundle): Html {
  return html`<div>
    ${name} <code>${revision}</code>
    ${lagMs > 0 ? badge(`older for ${longDuration(lagMs)}`, 'doubt') : ''}
    ${sinceMs === undefined ? '' : html`<span class="soft">since ${moment(sinceMs)}</span>`}
    ${problem === undefined ? '' : html`<p>${problem}</p>`}
  </div>`
}

function reportCell({ reportedMs, reportedBy }: FleetInstance): Html {
  return html`${moment(reportedMs)}
  ${reportedBy === undefined ? '' : html`<span class="soft">by ${reportedBy}</span>`}`
}
