import { z } from 'zod'
import { html } from 'hono/html'

import { findDecision, findStoredDecision, queryDecisions } from '../../../decisions/query-decisions.js'
import { AppError } from '../../../errors/app-error.js'
import { pathOfKey, printPackageName } from '../../../rego/index.js'
import type { Snapshot } from '../../../rego/index.js'
import { formBody } from '../../input/form-body.js'
import { textOf } from '../../input/path-parameter.js'
import { decisionPage, decisionsPage } from '../../pages/decision-pages.js'
import { PERIOD_VALUES, startOf } from '../../pages/lists.js'
import { routesOf } from '../../pipeline/define-routes.js'
import { evaluateAgain } from '../../policy/evaluate-again.js'
import type { KeptDecisions } from '../trail/decisions.js'
import { FORM, PAGE, showPage, viewerOf } from './page-route.js'
import type { PageRoutesDeps } from './page-route.js'
import type { DecisionExplanation } from '../../../explain/explain-decision.js'
import { badge } from '../../analysis-report/tone.js'
import type { Tone } from '../../analysis-report/tone.js'
import type { Html, PageContent, Viewer } from '../../pages/layout.js'
import { facts, link, shownValue } from '../../pages/parts.js'

/** Deepest level of rules that a page shows. */
const MAX_DEPTH = 8
const MAX_SAMPLES = 3

const TONES: Readonly<Record<Rule['outcome'], Tone>> = {
  fired: 'doubt',
  default: 'soft',
  not_fired: 'soft',
  not_evaluated: 'soft',
}

const WORDS: Readonly<Record<Rule['outcome'], string>> = {
  fired: 'fired',
  default: 'has its default value',
  not_fired: 'did not fire',
  not_evaluated: 'was not evaluated',
}

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

type Rule = DecisionExplanation['packages'][number]['rules'][number]

type Values = Rule['results'][number]['values']

/** Renders why a decision was made: the rules that fired, and why the others did not. */
function whyPage(explanation: DecisionExplanation, { prefix }: Viewer): PageContent {
  const { decisionId, outcome, revision, reproduced, error, notes, packages, rulesLeftOut } = explanation
  const back = `/ui/decisions/${encodeURIComponent(decisionId)}`
  const body = html`<h1>Why the decision was ${outcome}</h1>
    ${facts([
      ['decision', link(prefix, back, decisionId)],
      ['revision', html`<code>${revision}</code>`],
      ['same result again', reproduced === undefined ? undefined : reproduced ? 'yes' : 'no'],
      ['error', error],
    ])}
    ${notes.map(({ message }) => html`<p class="soft">${message}</p>`)}
    ${packages.map(
      ({ package: name, title, description, rules }) =>
        html`<h2>${name}</h2>
          ${title === undefined ? '' : html`<p><strong>${title}</strong></p>`}
          ${description === undefined ? '' : html`<p>${description}</p>`}
          ${rules.map((rule) => html`<section class="card">${ruleBlock(rule, 0)}</section>`)}`,
    )}
    ${rulesLeftOut === 0 ? '' : html`<p class="soft">${rulesLeftOut} more rules are not shown.</p>`}`
  return { title: 'Why', body, section: '/ui/decisions' }
}

function ruleBlock({ rule, file, row, text, outcome, results, failed, because }: Rule, depth: number): Html {
  const place = html`<span class="soft">${file}:${row}</span>`
  return html`<p><code>${rule}</code> ${badge(WORDS[outcome], TONES[outcome])} ${place}</p>
    <pre tabindex="0">${shownValue(text)}</pre>
    ${
      results.length === 0
        ? ''
        : html`<ul>
            ${results.map(({ value, values }) => html`<li><code>${shownValue(value)}</code> ${valueList(values)}</li>`)}
          </ul>`
    }
    ${
      failed === undefined
        ? ''
        : html`<p>The first condition that fails is in line ${failed.row}:</p>
            <pre tabindex="0">${shownValue(failed.source)}</pre>
            ${failed.samples.slice(0, MAX_SAMPLES).map(({ values }) => html`<p>${valueList(values)}</p>`)}
            ${becauseOf(failed.because, depth)}`
    }
    ${becauseOf(because, depth)}`
}

function becauseOf(rules: readonly Rule[], depth: number): Html {
  if (rules.length === 0 || depth >= MAX_DEPTH) return html``
  return html`<details>
    <summary>because of ${rules.length} other ${rules.length === 1 ? 'rule' : 'rules'}</summary>
    <ul class="plain-list">
      ${rules.map((rule) => html`<li>${ruleBlock(rule, depth + 1)}</li>`)}
    </ul>
  </details>`
}

function valueList(values: Values): Html {
  return html`${values.map(
    ({ term, values: all }) =>
      html`<span class="soft">${term} is</span>
        <code>${all.length === 0 ? 'undefined' : shownValue(all.join(', '))}</code> `,
  )}`
}
