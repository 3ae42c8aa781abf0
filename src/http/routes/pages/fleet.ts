import { html } from 'hono/html'

import type { FleetBundle, FleetInstance } from '../../../distribution/fleet.js'
import { badge } from '../../analysis-report/tone.js'
import type { Html, PageContent, Viewer } from '../../pages/layout.js'
import { table } from '../../pages/lists.js'
import { empty, link, longDuration, moment, toneOfState } from '../../pages/parts.js'
import { routesOf } from '../../pipeline/define-routes.js'
import { fleetInstances } from '../policies/fleet.js'
import { PAGE, showPage, viewerOf } from './page-route.js'
import type { PageRoutesDeps } from './page-route.js'

const PATH = '/ui/fleet'
const { route } = routesOf<PageRoutesDeps>()

/** The page of the fleet. */
export const fleetPageRoutes = [
  route({
    ...PAGE,
    method: 'GET',
    path: PATH,
    roles: ['auditor'],
    summary: 'The instances of this fleet with version, revisions, health and last decision, as a page',
    answer: async ({ exchange }, deps) =>
      showPage(fleetPage(await fleetInstances(deps.fleet), viewerOf(exchange, deps)), exchange, deps),
  }),
]

function fleetPage(instances: readonly FleetInstance[], { prefix }: Viewer): PageContent {
  const body = html`<h1>Fleet</h1>
    <p class="row">
      <span>${fleetLine(instances)}</span> ${link(prefix, '/ui/operations', 'Operations of this one')}
    </p>
    ${table(instances, [
      { head: 'instance', cell: instanceCell, isPlain: true },
      { head: 'health', cell: healthCell },
      { head: 'policies', cell: ({ bundles }) => html`${bundles.map(bundleLine)}` },
      { head: 'last decision', cell: ({ lastDecisionMs }) => moment(lastDecisionMs) || 'not known' },
      { head: 'last report', cell: reportCell },
    ])}
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
