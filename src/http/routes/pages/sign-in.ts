import { z } from 'zod'

import { CALLBACK_PATH, SIGNED_OUT_PATH } from '../../sign-on/account.js'
import { AppError, toAppError } from '../../../errors/app-error.js'
import { recordRevokedSession } from '../../../audit/record-revoked-session.js'
import { actorOf } from '../../exchange/caller-of.js'
import { UNKNOWN_CALLER } from '../../exchange/exchange.js'
import { errorAnswer } from '../../exchange/error-body.js'
import { FORM_TOKEN, formBody, readForm } from '../../input/form-body.js'
import { jsonAnswer } from '../../exchange/json-answer.js'
import type { BodyReader } from '../../input/body-reader.js'
import { parseQuery } from '../../input/parse-query.js'
import { goTo } from '../../pages/answer-page.js'
import { signedOutPage } from '../../pages/sign-in-page.js'
import { json } from '../../pipeline/answer-schemas.js'
import { routesOf } from '../../pipeline/define-routes.js'
import { FORM, PAGE, answerSignIn, showPage } from './page-route.js'
import type { PageRoutesDeps } from './page-route.js'

const HOME = '/ui'

const SignIn = z.object({ token: z.string(), next: z.string(), formToken: z.string().optional() })
const StartQuery = z.object({
  next: z.string().default(HOME).describe('The page that follows.'),
  approval: z.literal('yes').optional().describe('`yes` signs in as approvals require it.'),
})
const Logout = z.looseObject({ logout_token: z.string().describe('A signed logout token.') })
const { route } = routesOf<PageRoutesDeps>()

/** Nobody is signed in yet, so the CSRF token is compared with a cookie. */
const signInBody: BodyReader<PageRoutesDeps, z.output<typeof SignIn>> = {
  schema: SignIn,
  types: ['application/x-www-form-urlencoded'],
  read: async (exchange, { browsers }) => {
    const { token = '', next = HOME, [FORM_TOKEN]: formToken } = await readForm(exchange)
    if (browsers.requiresTokens) browsers.checkSignInForm(exchange, formToken)
    return { token, next: resolveOwnPage(next) ?? HOME }
  },
}

/** The provider proves itself by the signature of its token (Back-Channel Logout 1.0, 2.5). */
const logoutBody: BodyReader<PageRoutesDeps, z.output<typeof Logout>> = {
  schema: Logout,
  types: ['application/x-www-form-urlencoded'],
  read: async (exchange) => parseQuery(Logout, await readForm(exchange)),
}

/** Signing in and out. */
export const signInRoutes = [
  route({
    ...PAGE,
    method: 'GET',
    path: '/ui/sign-in',
    roles: 'anyone',
    summary: 'The sign-in form',
    answers: { ...PAGE.answers, 303: { description: 'Tokens are not required.', types: ['text/html'] } },
    answer: ({ exchange }, deps) =>
      deps.browsers.requiresTokens
        ? answerSignIn(exchange, deps, { next: HOME, status: 200 })
        : goTo(`${deps.page.prefix}${HOME}`),
  }),
  route({
    ...FORM,
    path: '/ui/sign-in',
    roles: 'anyone',
    summary: 'Sign in with a token',
    body: signInBody,
    answer: async ({ exchange, body: { token, next } }, deps) => {
      const { browsers, page } = deps
      if (!browsers.requiresTokens) return goTo(`${page.prefix}${next}`)
      try {
        return goTo(`${page.prefix}${next}`, [['Set-Cookie', await browsers.signIn(exchange, token)]])
      } catch (raw) {
        if (!(raw instanceof AppError) || raw.kind !== 'unauthenticated') throw raw
        exchange.failure = raw
        return await answerSignIn(exchange, deps, { next, problem: raw.message })
      }
    },
  }),
  route({
    ...PAGE,
    method: 'GET',
    path: '/ui/sign-in/start',
    roles: 'anyone',
    summary: 'Sign in at the identity provider',
    query: StartQuery,
    answers: { ...PAGE.answers, 303: { description: 'To the provider.', types: ['text/html'] } },
    answer: async ({ query: { next, approval } }, { browsers }) => {
      const { url, cookie } = await browsers.depart(resolveOwnPage(next) ?? HOME, approval !== undefined)
      return goTo(url, [['Set-Cookie', cookie]])
    },
  }),
  route({
    ...PAGE,
    method: 'GET',
    path: CALLBACK_PATH,
    roles: 'anyone',
    summary: 'Return from the identity provider',
    query: z.looseObject({}),
    answers: { ...PAGE.answers, 303: { description: 'Signed in; to the page.', types: ['text/html'] } },
    answer: async ({ exchange }, deps) => {
      try {
        const { next, cookies } = await deps.browsers.arrive(exchange)
        const headers = cookies.map((cookie) => ['Set-Cookie', cookie] as const)
        return goTo(`${deps.page.prefix}${resolveOwnPage(next) ?? HOME}`, headers)
      } catch (raw) {
        const error = toAppError(raw)
        if (error.kind !== 'forbidden' && error.kind !== 'unavailable') throw error
        exchange.failure = error
        const { status } = errorAnswer(error)
        return await answerSignIn(exchange, deps, { next: HOME, problem: error.message, status })
      }
    },
  }),
  route({
    ...FORM,
    path: '/ui/sign-out',
    roles: ['approver', 'auditor', 'orchestrator'],
    summary: 'Sign out',
    body: formBody(z.object({})),
    answers: { ...FORM.answers, 200: { description: 'To the provider.', types: ['text/html'] } },
    answer: async ({ exchange }, deps) => {
      const { browsers, page } = deps
      const { cookie, providerUrl } = await browsers.signOut(exchange)
      const headers = [['Set-Cookie', cookie]] as const
      if (providerUrl === undefined) return goTo(`${page.prefix}${SIGNED_OUT_PATH}`, headers)
      // Browsers block a redirect from a form to another origin (CSP `form-action`).
      const content = signedOutPage(providerUrl, browsers.provider?.label ?? '')
      exchange.caller = UNKNOWN_CALLER
      return await showPage(content, exchange, deps, {
        headers: [...headers, ['Refresh', `0; url=${providerUrl}`]],
      })
    },
  }),
  route({
    method: 'POST',
    path: '/ui/sign-in/back-channel',
    roles: 'anyone',
    handler: 'pages',
    summary: 'End the sessions of an account that signed out at the identity provider',
    body: logoutBody,
    answers: {
      200: json('The sessions have ended.', z.object({})),
      404: { description: 'There is no identity provider.' },
    },
    answer: async ({ exchange, body: { logout_token: token } }, { browsers, gates }) => {
      for (const { id, tokenName: name } of await browsers.endByProvider(token))
        await gates.writer.run(recordRevokedSession, { name, id, ...actorOf(exchange, gates) })
      return jsonAnswer({})
    },
  }),
]

/** Printable ASCII without backslashes, which browsers read as slashes. */
const PLAIN = /^\/ui(?:[/?][!-[\]-~]*)?$/
/**
 * Slashes, backslashes and dots that appear only after a second decoding, for example by a proxy.
 */
const HIDDEN = /%(?:25)*(?:2e|2f|5c)/i
const OWN_PATH = /^\/ui(?:\/|$)/
const BASE = 'http://page.invalid'

/**
 * Resolves the path of one of the service's pages as a browser would; undefined for anything else.
 */
export function resolveOwnPage(path: string): string | undefined {
  if (!PLAIN.test(path) || !URL.canParse(path, BASE)) return undefined
  const { origin, pathname, search } = new URL(path, BASE)
  if (origin !== BASE || !OWN_PATH.test(pathname) || HIDDEN.test(pathname)) return undefined
  return pathname + search
}
