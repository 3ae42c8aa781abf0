import { z } from 'zod'

import { listRuns } from '../../../analysis/runs/analysis-operations.js'
import { countDecisions, queryDecisions } from '../../../decisions/query-decisions.js'
import { listInstances } from '../../../gates/instances/list-instances.js'
import type { InstancePage } from '../../../gates/instances/list-instances.js'
import { printable } from '../../../lib/text/shown-text.js'
import { hasRole } from '../../exchange/caller-of.js'
import type { Exchange } from '../../exchange/exchange.js'
import { jsonAnswer } from '../../exchange/json-answer.js'
import { goTo } from '../../pages/answer-page.js'
import { homePage, homePanels } from '../../pages/home-page.js'
import type { SharedHome, ShownDenied, ShownHome } from '../../pages/home-page.js'
import { POLICY_READERS } from '../../pages/layout.js'
import { withQuery } from '../../pages/lists.js'
import { json } from '../../pipeline/answer-schemas.js'
import { routesOf } from '../../pipeline/define-routes.js'
import { statesOf } from '../about/health.js'
import { personOf } from '../gates/review-by-caller.js'
import { PAGE, asPage, showPage, viewerOf } from './page-route.js'
import type { PageRoutesDeps } from './page-route.js'

const DAY_MS = 86_400_000
const MAX_LISTED = 8
/** Highest number of denials that is counted exactly. */
const MAX_COUNTED = 1000

const About = z.object({ service: z.literal('tidegate'), version: z.string() })
const { route } = routesOf<PageRoutesDeps>()

/** `GET /`: the home page in a browser, and name and version for programs. */
export const homeRoutes = [
  route({
    method: 'GET',
    path: '/',
    roles: 'anyone',
    handler: 'about',
    isPolled: true,
    summary: 'Name and version of the service, or the home page in a browser',
    answers: { 200: { ...json('Name and version.', About), types: ['application/json', 'text/html'] } },
    refused: async (refusal, sent, deps) => {
      if (sent.prefers('application/json', 'text/html') === 'text/html')
        return await PAGE.refused(refusal, sent, deps)
      throw refusal
    },
    answer: ({ exchange, prefers }, deps) => {
      if (prefers('application/json', 'text/html') !== 'text/html')
        return jsonAnswer({ service: 'tidegate', version: deps.version }, 200, { Vary: 'Accept' })
      return asPage(exchange, POLICY_READERS, deps, () => answerHome(exchange, deps))
    },
  }),
  route({
    ...PAGE,
    method: 'GET',
    path: '/ui/home/events',
    handler: 'pages.events',
    roles: POLICY_READERS,
    summary: 'Changes of the home page, as server-sent events',
    answers: {
      ...PAGE.answers,
      200: { description: 'Events with the changed part of the page.', types: ['text/event-stream'] },
    },
    answer: ({ exchange }, deps) =>
      deps.homeFeed.open(exchange, {
        render: () => renderPanels(exchange, deps),
        authenticate: () => deps.browsers.authenticate(exchange, POLICY_READERS),
      }),
  }),
  route({
    ...PAGE,
    method: 'GET',
    path: '/ui',
    roles: POLICY_READERS,
    summary: 'The home page. With a query, leads to the list of approvals, which was here before',
    query: z.looseObject({}),
    answer: ({ exchange, query }, deps) =>
      Object.keys(query).length === 0
        ? answerHome(exchange, deps)
        : goTo(deps.page.prefix + withQuery('/ui/approvals', query as Record<string, string>)),
  }),
]

/** Returns the home page without its head for the viewer. */
async function renderPanels(exchange: Exchange, deps: PageRoutesDeps): Promise<string> {
  const panels = await homePanels(await collectHome(exchange, deps), viewerOf(exchange, deps))
  return printable(panels.toString())
}

async function answerHome(exchange: Exchange, deps: PageRoutesDeps): Promise<Response> {
  return showPage(homePage(await collectHome(exchange, deps), viewerOf(exchange, deps)), exchange, deps)
}

/** Collects what needs the viewer's attention. All viewers share all but their own approvals. */
async function collectHome(exchange: Exchange, deps: PageRoutesDeps): Promise<ShownHome> {
  const nowMs = deps.gates.now()
  const awaits = reviewerOf(exchange, deps)
  const mayDecide = hasRole(exchange.caller, 'approver')
  const [mine, shared] = await Promise.all([
    mayDecide ? deps.gates.reader.run(listInstances, { ...WAITING, nowMs, awaits, limit: MAX_LISTED }) : NONE,
    deps.homeFeed.shared(() => collectShared(deps, nowMs)),
  ])
  return { ...shared, mine, nowMs }
}

const NONE: InstancePage = { instances: [], total: 0, nextCursor: undefined }
const WAITING = { state: 'activated', order: 'deadline' } as const

async function collectShared(
  { gates, analysis, decisions, health }: PageRoutesDeps,
  nowMs: number,
): Promise<SharedHome> {
  const [all, runs, denied] = await Promise.all([
    gates.reader.run(listInstances, { ...WAITING, nowMs, limit: 1 }),
    analysis.reader.run(listRuns, { state: 'RUNNING', limit: MAX_LISTED }),
    collectDenied(decisions, nowMs),
  ])
  return { waiting: all.total, runs, denied, parts: statesOf(health) }
}

/** Returns the viewer as a reviewer; undefined if anyone may review under any name. */
export function reviewerOf(
  exchange: Exchange,
  { browsers }: PageRoutesDeps,
): ReturnType<typeof personOf> | undefined {
  return browsers.requiresTokens ? personOf(exchange) : undefined
}

async function collectDenied(
  decisions: PageRoutesDeps['decisions'],
  nowMs: number,
): Promise<ShownDenied | undefined> {
  if (decisions === undefined) return undefined
  const filter = { outcome: 'deny', fromMs: nowMs - DAY_MS } as const
  const { decisions: latest } = await queryDecisions(decisions, { ...filter, limit: MAX_LISTED })
  const count = await countDecisions(decisions, filter, MAX_COUNTED + 1)
  return { count, max: MAX_COUNTED, latest }
}
