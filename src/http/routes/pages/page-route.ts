import { ROLES } from '../../../config/sections/roles.js'
import type { Role } from '../../../config/sections/roles.js'
import { AppError, toAppError } from '../../../errors/app-error.js'
import { errorAnswer } from '../../exchange/error-body.js'
import type { Exchange } from '../../exchange/exchange.js'
import { FORM_TOKEN, readForm } from '../../input/form-body.js'
import { answerPage } from '../../pages/answer-page.js'
import type { PageAnswer, PageOptions } from '../../pages/answer-page.js'
import type { PageContent, Viewer } from '../../pages/layout.js'
import { SIGNED_IN } from '../../pages/layout.js'
import { errorPage, signInPage } from '../../pages/sign-in-page.js'
import type { ShownProblem } from '../../pages/sign-in-page.js'
import type { Unsent } from '../../pages/parts.js'
import type { StageBounds, StageCounts } from '../../../distribution/judge-stage.js'
import type { RevisionControl } from '../../../distribution/revision-control.js'
import type { AnswerDescription, SentRequest } from '../../pipeline/route.js'
import type { ImpactRuns } from '../../../impact/impact-runs.js'
import type { TimelineDeps } from '../../../audit/execution-timeline.js'
import type { Policies } from '../../../rego/index.js'
import type { PackageCosts } from '../../metrics/package-costs.js'
import type { PolicyContext } from '../../policy/decision.js'
import type { BrowserAccess } from '../../sessions/browser-access.js'
import type { AnalysisRoutesDeps } from '../analysis/analysis-deps.js'
import type { HomeFeed } from './home-feed.js'
import type { HealthPlugin } from '../about/health.js'
import type { GateRoutesDeps } from '../gates/gate-routes-deps.js'
import type { BackgroundWorkRoutesDeps } from '../messages/background-work.js'
import type { OutboxRoutesDeps } from '../messages/outbox.js'
import type { FleetRoutesDeps } from '../policies/fleet.js'
import type { PolicyTrials } from '../policies/playground.js'
import type { RegistryRoutesDeps } from '../registry/registry.js'
import type { AuditRoutesDeps } from '../trail/audit.js'
import type { KeptDecisions } from '../trail/decisions.js'

export interface PageRoutesDeps {
  readonly browsers: BrowserAccess
  readonly page: PageOptions
  readonly gates: GateRoutesDeps
  readonly analysis: AnalysisRoutesDeps
  readonly policies: Policies
  /** The stage of new policies, and how people end it. */
  readonly stage: {
    readonly counts: () => StageCounts | undefined
    readonly bounds: () => StageBounds
    readonly problem: () => string | undefined
  }
  readonly control: Pick<RevisionControl, 'endStage'>
  readonly policy: PolicyContext
  readonly trials: PolicyTrials
  /** Returns the cost of evaluations by package. */
  readonly costs: () => Promise<PackageCosts>
  readonly impact: Pick<ImpactRuns, 'start' | 'get'>
  readonly timeline: TimelineDeps
  readonly audit: AuditRoutesDeps
  readonly registry: RegistryRoutesDeps
  readonly outbox: OutboxRoutesDeps
  readonly backgroundWork: BackgroundWorkRoutesDeps
  readonly health: readonly HealthPlugin[]
  readonly fleet: Pick<FleetRoutesDeps, 'reports' | 'own' | 'now'>
  readonly version: string
  /** Returns the effective configuration without secrets. */
  readonly config: () => object
  readonly homeFeed: HomeFeed
  /** Absent if decisions are not stored. */
  readonly decisions: KeptDecisions | undefined
}

const html = (description: string): AnswerDescription => ({ description, types: ['text/html'] })

/** Responses of every page; errors are pages, too. */
const ERRORS = {
  400: html('The request is invalid.'),
  401: html('The sign-in form.'),
  403: html('The caller lacks permission.'),
  404: html('Page not found.'),
  409: html('No longer possible.'),
  413: html('The form is too large.'),
  415: html('Not a form.'),
  500: html('It failed.'),
  503: html('Temporarily unavailable.'),
}

/**
 * Common properties of pages. Errors are pages, and viewers who are not signed in get the sign-in
 * form.
 */
export const PAGE = {
  handler: 'pages',
  isPage: true,
  answers: { 200: html('The page.'), ...ERRORS },
  refused: (refusal: AppError, { exchange }: SentRequest, deps: PageRoutesDeps) =>
    refusal.kind === 'unauthenticated' ? answerSignIn(exchange, deps) : answerError(refusal, exchange, deps),
  failed: (failure: AppError, { exchange }: SentRequest, deps: PageRoutesDeps) =>
    answerError(failure, exchange, deps),
} as const

/** Common properties of forms. */
export const FORM = {
  ...PAGE,
  method: 'POST',
  answers: { 303: { description: 'Done; redirect to the page.', types: ['text/html'] }, ...ERRORS },
} as const

/** Returns the viewer of a page. */
export function viewerOf({ caller }: Exchange, { page }: PageRoutesDeps): Viewer {
  const { tokenName: name, formToken, isAdmin, roles = [] } = caller
  return { name, formToken, prefix: page.prefix, roles: isAdmin ? ROLES : roles }
}

/**
 * Responds with a page at an address that programs use without credentials. Viewers who are not
 * signed in get the sign-in form.
 */
export async function asPage(
  exchange: Exchange,
  roles: readonly Role[],
  deps: PageRoutesDeps,
  answer: () => Promise<Response>,
): Promise<Response> {
  try {
    await deps.browsers.authenticate(exchange, roles)
    return await exchange.makePage(answer)
  } catch (raw) {
    const error = toAppError(raw)
    exchange.failure = error
    return error.kind === 'unauthenticated'
      ? await answerSignIn(exchange, deps)
      : await answerError(error, exchange, deps)
  }
}

/** Responds to a browser at an unknown address. Signed-in viewers see the navigation. */
export async function answerUnknownPage(exchange: Exchange, deps: PageRoutesDeps): Promise<Response> {
  const error = new AppError('not_found', `There is no page at ${exchange.target.path}.`)
  try {
    await deps.browsers.authenticate(exchange, SIGNED_IN)
  } catch (raw) {
    if (!(raw instanceof AppError)) throw raw
  }
  exchange.failure = error
  return await answerError(error, exchange, deps)
}

/** Returns an error for the page of its form, with the status. Raises internal errors again. */
export function problemOf(raw: unknown): { readonly result: ShownProblem; readonly status: number } {
  if (!(raw instanceof AppError) || raw.kind === 'internal') throw raw
  const { message, details } = raw
  return { result: { kind: 'problem', message, details }, status: errorAnswer(raw).status }
}

/** Responds with a page. */
export function showPage(
  content: PageContent,
  exchange: Exchange,
  deps: PageRoutesDeps,
  answer?: PageAnswer,
): Promise<Response> {
  return answerPage(content, viewerOf(exchange, deps), deps.page, answer)
}

interface SignInOptions {
  readonly next?: string
  readonly problem?: string
  readonly status?: number
}

/** Responds with the sign-in form, instead of the requested page or after a wrong token. */
export async function answerSignIn(
  exchange: Exchange,
  deps: PageRoutesDeps,
  { next = ownPath(exchange, deps), problem, status = 401 }: SignInOptions = {},
): Promise<Response> {
  const { formToken, cookie } = deps.browsers.signInForm(exchange)
  const isFramed = exchange.header('sec-fetch-dest') === 'iframe'
  const unsent = problem === undefined ? await unsentOf(exchange, deps) : { page: next, fields: [] }
  const { provider, takesTokens } = deps.browsers
  const offered = { providerLabel: provider?.label, takesTokens }
  const view = { formToken, prefix: deps.page.prefix, next, problem, isFramed, unsent, ...offered }
  const headers = [['Set-Cookie', cookie], ...reloadHeaders(exchange, problem)] as const
  return showPage(signInPage(view), exchange, deps, { status, headers })
}

/**
 * Reloads the page after a link from another site. Browsers withhold the cookie in that case,
 * although the viewer is signed in; after the reload, the page itself sends the request.
 */
function reloadHeaders(
  exchange: Exchange,
  problem: string | undefined,
): readonly (readonly [string, string])[] {
  const cameFromElsewhere = exchange.header('sec-fetch-site') === 'cross-site'
  return exchange.method === 'GET' && cameFromElsewhere && problem === undefined ? [['Refresh', '0']] : []
}

/**
 * The page that the viewer wants: that of the form, after sending one. `/` is for programs, too, so
 * that the form leads to `/ui`, the same page.
 */
function ownPath(exchange: Exchange, { page: { prefix } }: PageRoutesDeps): string {
  const { path, query } = exchange.target
  if (path === '/') return '/ui'
  const referer = exchange.method === 'POST' ? exchange.header('referer') : undefined
  if (referer !== undefined && URL.canParse(referer)) {
    const { host, pathname, search } = new URL(referer)
    if (host === exchange.header('host') && pathname.startsWith(`${prefix}/ui`))
      return pathname.slice(prefix.length) + search
  }
  return query === undefined ? path : `${path}?${query}`
}

async function answerError(error: AppError, exchange: Exchange, deps: PageRoutesDeps): Promise<Response> {
  const { status, headers } = errorAnswer(error)
  const { 'Retry-After': retryAfter } = headers
  const content = errorPage(status, error.message, await unsentOf(exchange, deps))
  return showPage(content, exchange, deps, {
    status,
    headers: retryAfter === undefined ? [] : [['Retry-After', retryAfter]],
  })
}

/** Fields without user input. */
const OTHER_FIELDS: readonly string[] = [FORM_TOKEN, 'action', 'next', 'token']

/** Returns the user input of a form that was not processed. Forms from other sites are ignored. */
async function unsentOf(exchange: Exchange, deps: PageRoutesDeps): Promise<Unsent> {
  const page = deps.page.prefix + ownPath(exchange, deps)
  if (exchange.method !== 'POST' || exchange.header('sec-fetch-site') === 'cross-site')
    return { page, fields: [] }
  try {
    const fields = Object.entries(await readForm(exchange))
    return { page, fields: fields.filter(([name, text]) => text !== '' && !OTHER_FIELDS.includes(name)) }
  } catch (raw) {
    if (raw instanceof AppError) return { page, fields: [] }
    throw raw
  }
}
