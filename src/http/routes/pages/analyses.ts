import { z } from 'zod'
import { html } from 'hono/html'

import { cancelRun, listDefinitions, listRuns } from '../../../analysis/runs/analysis-operations.js'
import { giveFeedback } from '../../../analysis/runs/feedback.js'
import { readRegistration } from '../../../analysis/runs/definitions/registration.js'
import { registerCanary } from '../../../analysis/runs/register-canary.js'
import { JUDGEMENTS } from '../../../store/ports/analysis-store.js'
import { actorOf } from '../../exchange/caller-of.js'
import { formBody } from '../../input/form-body.js'
import { numberOf } from '../../input/path-parameter.js'
import { goTo } from '../../pages/answer-page.js'
import { PEOPLE, tokenField } from '../../pages/layout.js'
import { routesOf } from '../../pipeline/define-routes.js'
import { FORM, PAGE, showPage, viewerOf } from './page-route.js'
import type { PageRoutesDeps } from './page-route.js'
import type { RunState, StoredDefinition, StoredRun } from '../../../store/ports/analysis-store.js'
import { formatNumber } from '../../analysis-report/format-number.js'
import { toneOf } from '../../analysis-report/tone.js'
import type { Html, PageContent, Viewer } from '../../pages/layout.js'
import { filterForm, pager, table, withQuery } from '../../pages/lists.js'
import { barRow, clock, empty, executionLink, flag, link, moment } from '../../pages/parts.js'
import { runVerdict } from '../../pages/run-table.js'

const STATES = ['', 'RUNNING', 'COMPLETED', 'CANCELLED'] as const
const WHOLE = 100
const PATH = '/ui/analyses'
const MAX_LISTED = 50
const MAX_DEFINITIONS = 100
const MAX_SCORES = 12
const MAX_NAME = 1000
const MAX_COMMENT = 2000
const ListQuery = z.looseObject({
  application: z.string().trim().max(MAX_NAME).default(''),
  state: z.enum(['RUNNING', 'COMPLETED', 'CANCELLED', '']).default(''),
  cursor: z
    .string()
    .regex(/^\d{1,15}$/)
    .optional(),
})
const { route } = routesOf<PageRoutesDeps>()

/** Pages of analyses: the list, and the forms that start and cancel one. */
export const analysisPageRoutes = [
  route({
    ...PAGE,
    method: 'GET',
    path: PATH,
    roles: PEOPLE,
    summary: 'Analyses and defined applications, as a page',
    query: ListQuery,
    answer: async ({ exchange, query: { application, state, cursor } }, deps) => {
      const runs = await deps.analysis.reader.run(listRuns, {
        application: application === '' ? undefined : application,
        state: state === '' ? undefined : state,
        beforeId: cursor === undefined ? undefined : Number(cursor),
        limit: MAX_LISTED,
      })
      const last = runs.length < MAX_LISTED ? undefined : runs.at(-1)
      const isFirst = application === '' && state === '' && cursor === undefined
      const shown = {
        ...{ application, state, runs, cursor, nextCursor: last && String(last.id) },
        definitions: isFirst ? await definitionsOf(deps) : undefined,
      }
      return showPage(analysesPage(shown, viewerOf(exchange, deps)), exchange, deps)
    },
  }),
  route({
    ...FORM,
    path: PATH,
    roles: ['admin'],
    summary: 'Start an analysis of a defined application, from the form of the page',
    body: formBody(z.object({ application: z.string().min(1).max(MAX_NAME) })),
    answer: async ({ exchange, body: { application } }, deps) => {
      const registration = readRegistration({ application })
      const { id } = await registerCanary(deps.analysis, registration, actorOf(exchange, deps.analysis))
      return goTo(`${deps.page.prefix}/ui/runs/${id}`)
    },
  }),
  route({
    ...FORM,
    path: '/ui/runs/:id/cancel',
    roles: ['admin'],
    summary: 'Cancel an analysis, from the form of its page',
    params: { id: numberOf('analysis') },
    body: formBody(z.object({})),
    answer: async ({ exchange, params: { id } }, deps) => {
      await deps.analysis.writer.run(cancelRun, { id, actor: actorOf(exchange, deps.analysis) })
      deps.analysis.forget(id)
      return goTo(`${deps.page.prefix}/ui/runs/${id}`)
    },
  }),
  route({
    ...FORM,
    path: '/ui/runs/:id/feedback',
    roles: ['approver'],
    summary: 'Say whether the verdict of an analysis was right, from the form of its page',
    params: { id: numberOf('analysis') },
    body: formBody(
      z.object({ judgement: z.enum(JUDGEMENTS), comment: z.string().max(MAX_COMMENT).default('') }),
    ),
    answer: async ({ exchange, params: { id }, body: { judgement, comment } }, deps) => {
      const said = comment.trim()
      const feedback = { id, judgement, metrics: [], comment: said === '' ? undefined : said }
      await giveFeedback(deps.analysis, feedback, actorOf(exchange, deps.analysis))
      return goTo(`${deps.page.prefix}/ui/runs/${id}`)
    },
  }),
]

async function definitionsOf({ analysis: { reader } }: PageRoutesDeps): Promise<readonly ShownDefinition[]> {
  const definitions = await reader.run(listDefinitions, null)
  return await Promise.all(
    definitions.slice(0, MAX_DEFINITIONS).map(async (definition) => {
      const { application } = definition
      return { definition, latest: await reader.run(listRuns, { application, limit: MAX_SCORES }) }
    }),
  )
}

/** A definition with the latest runs of its application, newest first. */
interface ShownDefinition {
  readonly definition: StoredDefinition
  readonly latest: readonly StoredRun[]
}

interface ShownAnalyses {
  readonly application: string
  readonly state: RunState | ''
  readonly runs: readonly StoredRun[]
  readonly cursor: string | undefined
  readonly nextCursor: string | undefined
  /** Undefined if the list is filtered or is not the first page. */
  readonly definitions: readonly ShownDefinition[] | undefined
}

/** Renders analyses, newest first, and the defined applications with their latest scores. */
function analysesPage(shown: ShownAnalyses, viewer: Viewer): PageContent {
  const { application, state, runs, cursor, nextCursor, definitions } = shown
  const body = html`<h1>Analyses</h1>
    ${filterForm(
      PATH,
      [
        { name: 'application', label: 'Application', value: application },
        {
          name: 'state',
          label: 'State',
          value: state,
          options: STATES.map((each) => [each, each === '' ? 'any' : each.toLowerCase()]),
        },
      ],
      viewer,
    )}
    ${application === '' ? '' : html`<p>${link(viewer.prefix, definitionPath(application), `Definition of ${application}`)}</p>`}
    ${runs.length === 0 ? nothing(shown, viewer) : runTable(runs, viewer)}
    ${application === '' || runs.length < 2 ? '' : compareForm(runs, viewer)}
    ${pager({ path: PATH, query: { application, state }, cursor, nextCursor }, viewer)}
    ${definitions === undefined ? '' : definitionSection(definitions, viewer)}`
  return { title: 'Analyses', body, section: PATH }
}

function nothing({ application, state, cursor }: ShownAnalyses, { prefix }: Viewer): Html {
  if (application !== '' || state !== '' || cursor !== undefined)
    return empty('No matching analyses.', link(prefix, PATH, 'Show all'))
  return empty('No analysis has run yet.', 'A verification stage starts one, or the form below.')
}

function runTable(runs: readonly StoredRun[], { prefix }: Viewer): Html {
  return table(runs, [
    {
      head: 'analysis',
      cell: ({ id, application }) => link(prefix, `/ui/runs/${id}`, `${application}, ${id}`),
      isPlain: true,
    },
    { head: 'verdict', cell: runVerdict, isPlain: true },
    { head: 'why', cell: ({ message }) => message, isQuote: true },
    {
      head: 'execution',
      cell: ({ executionId }) => (executionId === undefined ? '' : executionLink(prefix, executionId)),
    },
    { head: 'started', cell: ({ startedMs }) => moment(startedMs) },
    { head: 'interval', cell: ({ intervals, intervalsDone }) => `${intervalsDone} of ${intervals}` },
  ])
}

function definitionPath(application: string): string {
  return withQuery(`${PATH}/definition`, { application })
}

/** A form that compares two of the listed analyses, by default the newest two. */
function compareForm(runs: readonly StoredRun[], { prefix }: Viewer): Html {
  const choice = (name: string, label: string, selected: number): Html =>
    html`<div>
      <label for="compare-${name}">${label}</label>
      <select id="compare-${name}" name="${name}">
        ${runs.map(
          ({ id, verdict, state, startedMs }, place) =>
            html`<option value="${id}" ${flag('selected', place === selected)}>
              ${id}: ${verdict ?? state.toLowerCase()}, ${clock(startedMs)}
            </option>`,
        )}
      </select>
    </div>`
  return html`<h2>Compare two analyses</h2>
    <form class="filter" method="get" action="${prefix}${PATH}/compare">
      ${choice('first', 'Earlier', 1)} ${choice('second', 'Later', 0)}
      <button>Compare</button>
    </form>`
}

function definitionSection(definitions: readonly ShownDefinition[], viewer: Viewer): Html {
  const { prefix, roles } = viewer
  const how = html`Add a file to <code>analysis.definitions</code>, or see
    <code>tidegate analysis --help</code>.`
  return html`<h2>Defined applications (${definitions.length})</h2>
    ${
      definitions.length === 0
        ? empty('No analysis is defined.', how)
        : table(definitions, [
            {
              head: 'application',
              cell: ({ definition: { application } }) =>
                link(prefix, `${PATH}?application=${encodeURIComponent(application)}`, application),
              isPlain: true,
            },
            {
              head: 'definition',
              cell: ({ definition: { application } }) =>
                link(prefix, definitionPath(application), roles.includes('admin') ? 'edit and try' : 'show'),
            },
            { head: 'latest scores', cell: ({ latest }) => scores(latest) },
            { head: 'defined', cell: ({ definition: { updatedMs } }) => moment(updatedMs) },
            { head: 'by', cell: ({ definition: { updatedBy, origin } }) => updatedBy ?? origin },
          ])
    }
    ${roles.includes('admin') ? html`<p>${link(prefix, `${PATH}/definition`, 'Define an application')}</p>` : ''}
    ${definitions.length > 0 && roles.includes('admin') ? startForm(definitions, viewer) : ''}`
}

/** Draws the scores of runs as bars from 0 to 100, oldest first. */
function scores(latest: readonly StoredRun[]): Html {
  const ended = latest
    .filter(({ score, unscored }) => score !== undefined && unscored === undefined)
    .toReversed()
  if (ended.length === 0) return html`<span class="soft">none yet</span>`
  const text = `scores, oldest first: ${ended.map(({ score = 0 }) => formatNumber(score)).join(', ')}`
  const bars = ended.map(({ score = 0, verdict = '' }) => ({ part: score / WHOLE, tone: toneOf(verdict) }))
  return barRow(text, MAX_SCORES, bars)
}

function startForm(definitions: readonly ShownDefinition[], viewer: Viewer): Html {
  return html`<h2>Start an analysis</h2>
    <form method="post" action="${viewer.prefix}${PATH}">
      ${tokenField(viewer)}
      <label for="application">Application</label>
      <select id="application" name="application">
        ${definitions.map(
          ({ definition: { application } }) => html`<option value="${application}">${application}</option>`,
        )}
      </select>
      <p class="soft">With the instances, sources and times of its definition.</p>
      <button>Start</button>
    </form>`
}
