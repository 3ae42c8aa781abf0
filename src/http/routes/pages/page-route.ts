import { AppError } from '../../../errors/app-error.js'
import { errorAnswer } from '../../exchange/error-body.js'
import type { Exchange } from '../../exchange/exchange.js'
import { FORM_TOKEN, readForm } from '../../input/form-body.js'
import { answerPage } from '../../pages/answer-page.js'
import type { PageAnswer, PageOptions } from '../../pages/answer-page.js'
import type { PageContent, Viewer } from '../../pages/layout.js'
import { errorPage, signInPage } from '../../pages/sign-in-page.js'
import type { Unsent } from '../../pages/sign-in-page.js'
import type { AnswerDescription, SentRequest } from '../../pipeline/route.js'
import type { TimelineDeps } from '../../../audit/execution-timeline.js'
import type { DecisionQueryDeps } from '../../../decisions/query-decisions.js'
import { type Policies } from '../../../rego/index.js'
import type { BrowserAccess } from '../../sessions/browser-access.js'
import type { AnalysisRoutesDeps } from '../analysis/analysis-deps.js'
import type { GateRoutesDeps } from '../gates/gate-routes-deps.js'

/** What the pages need. */
export interface PageRoutesDeps {
  readonly browsers: BrowserAccess
  readonly page: PageOptions
  readonly gates: GateRoutesDeps
  readonly analysis: AnalysisRoutesDeps
  readonly policies: Policies
  readonly timeline: TimelineDeps
  /** Absent where decisions are not kept. */
  readonly decisions: DecisionQueryDeps | undefined
}

const html = (description: string): AnswerDescription => ({ description, types: ['text/html'] })

/** What every page may answer: errors are pages, too. */
const ERRORS = {
  400: html('What was sent cannot be read.'),
  401: html('The form to sign in.'),
  403: html('The caller may not do this.'),
  404: html('There is no such page.'),
  409: html('It is not possible any more.'),
  413: html('Too much was sent.'),
  415: html('Something else than a form was sent.'),
  500: html('It failed.'),
  503: html('It is not possible just now.'),
}

/** What all rows of pages have: their errors are pages, and who is not signed in is shown the form to do so. */
export const PAGE = {
  handler: 'pages',
  isPage: true,
  answers: { 200: html('The page.'), ...ERRORS },
  refused: (refusal: AppError, { exchange }: SentRequest, deps: PageRoutesDeps) =>
    refusal.kind === 'unauthenticated' ? answerSignIn(exchange, deps) : answerError(refusal, exchange, deps),
  failed: (failure: AppError, { exchange }: SentRequest, deps: PageRoutesDeps) =>
    answerError(failure, exchange, deps),
} as const

/** The same for rows that take a form. */
export const FORM = {
  ...PAGE,
  method: 'POST',
  answers: { 303: { description: 'It is done; on to the page.', types: ['text/html'] }, ...ERRORS },
} as const

/** Whose page it is. */
export function viewerOf({ caller }: Exchange, { page }: PageRoutesDeps): Viewer {
  return { name: caller.tokenName, formToken: caller.formToken, prefix: page.prefix }
}

/** A page for who asked. */
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

/** The form to sign in, in the place of the page that was asked for, or after a token that was wrong. */
export async function answerSignIn(
  exchange: Exchange,
  deps: PageRoutesDeps,
  { next = ownPath(exchange), problem, status = 401 }: SignInOptions = {},
): Promise<Response> {
  const { formToken, cookie } = deps.browsers.signInForm(exchange)
  const isFramed = exchange.header('sec-fetch-dest') === 'iframe'
  const unsent = problem === undefined ? await unsentOf(exchange) : []
  const view = { formToken, prefix: deps.page.prefix, next, problem, isFramed, unsent }
  const headers = [['Set-Cookie', cookie], ...reloadHeaders(exchange, problem)] as const
  return showPage(signInPage(view), exchange, deps, { status, headers })
}

/**
 * A browser keeps the cookie back when a link of another site leads here, though its person has signed in: it loads the page again by itself,
 * and then it is the page itself that asks.
 */
function reloadHeaders(
  exchange: Exchange,
  problem: string | undefined,
): readonly (readonly [string, string])[] {
  const cameFromElsewhere = exchange.header('sec-fetch-site') === 'cross-site'
  return exchange.method === 'GET' && cameFromElsewhere && problem === undefined ? [['Refresh', '0']] : []
}

function ownPath({ target: { path, query } }: Exchange): string {
  return query === undefined ? path : `${path}?${query}`
}

async function answerError(error: AppError, exchange: Exchange, deps: PageRoutesDeps): Promise<Response> {
  const { status, headers } = errorAnswer(error)
  const { 'Retry-After': retryAfter } = headers
  const content = errorPage(status, error.message, error.code, await unsentOf(exchange))
  return showPage(content, exchange, deps, {
    status,
    headers: retryAfter === undefined ? [] : [['Retry-After', retryAfter]],
  })
}

/** Fields that no person writes. */
const OTHER_FIELDS: readonly string[] = [FORM_TOKEN, 'action', 'next', 'token']

/** What a person wrote into a form that was not carried out. Pages of other sites have nothing shown here. */
async function unsentOf(exchange: Exchange): Promise<Unsent> {
  if (exchange.method !== 'POST' || exchange.header('sec-fetch-site') === 'cross-site') return []
  try {
    const fields = Object.entries(await readForm(exchange))
    return fields.filter(([name, text]) => text !== '' && !OTHER_FIELDS.includes(name))
  } catch (raw) {
    if (raw instanceof AppError) return []
    throw raw
  }
}
