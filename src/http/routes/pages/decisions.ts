import { z } from 'zod'
import { html } from 'hono/html'

import { findDecision, findStoredDecision, queryDecisions } from '../../../decisions/query-decisions.js'
import { AppError } from '../../../errors/app-error.js'
import { pathOfKey, printPackageName } from '../../../rego/index.js'
import type { Snapshot } from '../../../rego/index.js'
import { formBody } from '../../input/form-body.js'
import { textOf } from '../../input/path-parameter.js'
import { decisionPage, decisionsPage } from '../../pages/decision-pages.js'
import { PERIOD_VALUES, startOf, withQuery } from '../../pages/lists.js'
import { routesOf } from '../../pipeline/define-routes.js'
import { evaluateAgain } from '../../policy/evaluate-again.js'
import type { KeptDecisions } from '../trail/decisions.js'
import { FORM, PAGE, showPage, viewerOf } from './page-route.js'
import type { PageRoutesDeps } from './page-route.js'
import type { DecisionExplanation } from '../../../explain/explain-decision.js'
import { explainedPackages } from '../../pages/explanation-section.js'
import type { PageContent, Viewer } from '../../pages/layout.js'
import { decisionPath, facts, link } from '../../pages/parts.js'

const PAST: Readonly<Record<string, string>> = { allow: 'allowed', deny: 'denied', error: 'an error' }

const MAX_LISTED = 50
const MAX_SUGGESTED = 500
const MAX_FILTER = 1000
const Text = z.string().trim().max(MAX_FILTER).default('')
const ListQuery = z.looseObject({
  package: Text,
  path: Text,
  application: Text,
  executionId: Text,
  outcome: z.enum(['allow', 'deny', 'defined', 'undefined', 'error', '']).default(''),
  period: z.enum(PERIOD_VALUES).default(''),
  cursor: z.string().optional(),
})
const ID = { id: textOf('Id of the decision.') }
const VIEW = { ...PAGE, method: 'GET', roles: ['auditor'] } as const
const { route } = routesOf<PageRoutesDeps>()

/** Pages of the decision log. */
export const decisionPageRoutes = [
  route({
    ...VIEW,
    path: '/ui/decisions',
    summary: 'The decision log with filters, as a page',
    query: ListQuery,
    answer: async ({ exchange, query: { cursor, ...given } }, deps) => {
      const { decisions, policies, gates } = deps
      const { package: name, path, application, executionId, outcome, period } = given
      const filter = { package: name, path, application, executionId, outcome, period }
      const page =
        decisions &&
        (await queryDecisions(decisions, {
          package: orAbsent(name),
          path: orAbsent(path.replace(/^\/+/, '')),
          application: orAbsent(application),
          executionId: orAbsent(executionId),
          outcome: outcome === '' ? undefined : outcome,
          fromMs: startOf(period, gates.now()),
          limit: MAX_LISTED,
          cursor,
        }))
      const packages = packageNames(policies.current).slice(0, MAX_SUGGESTED)
      const content = decisionsPage({ filter, page, cursor, packages }, viewerOf(exchange, deps))
      return showPage(content, exchange, deps)
    },
  }),
  route({
    ...VIEW,
    path: '/ui/decisions/:id',
    summary: 'One decision, as a page',
    params: ID,
    answer: async ({ exchange, params: { id } }, deps) => {
      const decision = await findDecision(requireLog(deps), id)
      return showPage(decisionPage({ decision }, viewerOf(exchange, deps)), exchange, deps)
    },
  }),
  route({
    ...VIEW,
    path: '/ui/decisions/:id/why',
    summary: 'Why a decision was made, as a page',
    params: ID,
    answer: async ({ exchange, params: { id } }, deps) => {
      const log = requireLog(deps)
      const decision = await findStoredDecision(log, id)
      if (log.explain === undefined) throw new AppError('not_found', 'Decisions are not explained here.')
      const explanation = await log.explain(decision, { mode: 'full' })
      return showPage(whyPage(explanation, viewerOf(exchange, deps)), exchange, deps)
    },
  }),
  route({
    ...FORM,
    path: '/ui/decisions/:id/again',
    roles: ['auditor'],
    summary: 'Evaluate a decision again with the current policies, from its page',
    params: ID,
    body: formBody(z.object({})),
    answers: PAGE.answers,
    answer: async ({ exchange, params: { id } }, deps) => {
      const decision = await findDecision(requireLog(deps), id)
      const again = await evaluateAgain(deps.policy, decision).catch((raw: unknown) => {
        if (raw instanceof AppError && raw.kind === 'invalid') return raw.message
        throw raw
      })
      return showPage(decisionPage({ decision, again }, viewerOf(exchange, deps)), exchange, deps)
    },
  }),
]

function orAbsent(text: string): string | undefined {
  return text === '' ? undefined : text
}

/** Returns the decision log. Raises `not_found` if decisions are not stored. */
export function requireLog({ decisions }: PageRoutesDeps): KeptDecisions {
  if (decisions !== undefined) return decisions
  throw new AppError('not_found', 'The decision log is disabled. Set decisions.enabled to true.')
}

/** Returns the names of the loaded packages: `app.rules`. */
export function packageNames({ packages }: Snapshot): readonly string[] {
  return packages.map((key) => printPackageName(pathOfKey(key)))
}

/** Renders why a decision was made: the rules that fired, and why the others did not. */
function whyPage(explanation: DecisionExplanation, { prefix }: Viewer): PageContent {
  const { decisionId, outcome, revision, reproduced, error, notes } = explanation
  const back = decisionPath(decisionId)
  const body = html`<h1>Why the decision was ${PAST[outcome] ?? outcome}</h1>
    ${facts([
      ['decision', link(prefix, back, decisionId)],
      ['revision', html`<code>${revision}</code>`],
      ['same result again', reproduced === undefined ? undefined : reproduced ? 'yes' : 'no'],
      ['error', error],
    ])}
    ${notes.map(({ message }) => html`<p class="soft">${message}</p>`)}
    ${explainedPackages(explanation, ({ file, row }) =>
      link(
        prefix,
        withQuery('/ui/playground', { decision: decisionId, file, row }),
        'Edit in the playground',
      ),
    )}`
  return { title: 'Why', body, section: '/ui/decisions' }
}
