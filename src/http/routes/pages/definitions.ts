import { html, raw } from 'hono/html'
import { z } from 'zod'

import { findDefinition, undefinedAnalysis } from '../../../analysis/runs/analysis-operations.js'
import { defineAnalysis, readUsableDefinition } from '../../../analysis/runs/define-analysis.js'
import { shownDocument } from '../../../analysis/runs/show-run.js'
import { unknownKeys } from '../../../canary/index.js'
import type { StoredDefinition } from '../../../store/ports/analysis-store.js'
import { renderTrial } from '../../analysis-report/render-run.js'
import { actorOf } from '../../exchange/caller-of.js'
import type { Exchange } from '../../exchange/exchange.js'
import { Lines, formBody } from '../../input/form-body.js'
import { readDocumentText } from '../../input/read-document.js'
import { goTo } from '../../pages/answer-page.js'
import { PEOPLE, tokenField } from '../../pages/layout.js'
import type { Html, PageContent, Viewer } from '../../pages/layout.js'
import { withQuery } from '../../pages/lists.js'
import { facts, link, moment } from '../../pages/parts.js'
import { problemRows } from '../../pages/problem-rows.js'
import { problemNotice } from '../../pages/sign-in-page.js'
import type { ShownProblem } from '../../pages/sign-in-page.js'
import { routesOf } from '../../pipeline/define-routes.js'
import { FORM, PAGE, problemOf, showPage, viewerOf } from './page-route.js'
import type { PageRoutesDeps } from './page-route.js'

const PATH = '/ui/analyses/definition'
const MAX_NAME = 200
const MAX_MINUTES = 1440
const MAX_YAML_BYTES = 1024 * 1024
const Name = z.string().trim().max(MAX_NAME).default('')
const Edited = z.object({
  application: Name.pipe(z.string().min(1, 'must name the application')),
  text: Lines.default(''),
  minutes: z.coerce.number().int().min(3).max(MAX_MINUTES).default(60),
  /** Of an input of the type `datetime-local`, which is labelled as UTC. */
  until: z
    .string()
    .regex(/^(?:\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?)?$/, 'must be a date and a time')
    .default(''),
  action: z.enum(['check', 'run', 'save', 'download']).default('check'),
})
type Edited = z.output<typeof Edited>
/** A definition with all parts that a page of the guide explains. */
const EXAMPLE = `lifetimeMinutes: 60
intervalMinutes: 20
scopes:
  baseline: { version: stable }
  canary: { version: canary }
metrics:
  source: prom
  canaryConfig:
    metrics:
      - name: errors
        query:
          customInlineTemplate: 'PromQL:sum(rate(http_errors_total{version="\${version}"}[60s]))'
        analysisConfigurations:
          canary: { direction: increase, critical: true }
`
const { route } = routesOf<PageRoutesDeps>()

/** The editor of the definition of an analysis, which can run it over a past stretch. */
export const definitionPageRoutes = [
  route({
    ...PAGE,
    method: 'GET',
    path: PATH,
    roles: PEOPLE,
    summary: 'The definition of an analysis, as a page',
    query: z.looseObject({ application: Name.describe('The application; a new one without it.') }),
    answer: async ({ exchange, query: { application } }, deps) => {
      const stored = await storedOf(application, deps)
      const viewer = viewerOf(exchange, deps)
      if (application !== '' && stored === undefined && !viewer.roles.includes('admin'))
        throw undefinedAnalysis(application)
      const text = stored === undefined ? EXAMPLE : JSON.stringify(shownDocument(stored.definition), null, 2)
      const form = { application, text, minutes: 60, until: '' }
      return showPage(definitionPage({ form, stored }, viewer), exchange, deps)
    },
  }),
  route({
    ...FORM,
    path: PATH,
    roles: ['admin'],
    summary: 'Check, run, save or download a changed definition, from the form of its page',
    body: formBody(Edited),
    answers: { ...FORM.answers, ...PAGE.answers },
    answer: async ({ exchange, body: form }, deps) => {
      if (form.action === 'download') return download(form)
      const stored = await storedOf(form.application, deps)
      let result: EditResult
      let status = 200
      try {
        const done = await act(form, exchange, deps)
        if (done === 'saved')
          return goTo(`${deps.page.prefix}${withQuery(PATH, { application: form.application })}`)
        result = done
      } catch (thrown) {
        ;({ result, status } = problemOf(thrown))
      }
      const content = definitionPage({ form, stored, result }, viewerOf(exchange, deps))
      return showPage(content, exchange, deps, { status })
    },
  }),
]

async function storedOf(
  application: string,
  { analysis }: PageRoutesDeps,
): Promise<StoredDefinition | undefined> {
  return application === '' ? undefined : await analysis.reader.run(findDefinition, application)
}

/** The result of a button. */
type EditResult =
  | { readonly kind: 'checked'; readonly warnings: readonly string[] }
  /** HTML of the report. */
  | { readonly kind: 'ran'; readonly body: string; readonly warnings: readonly string[] }
  | ShownProblem

async function act(
  { application, text, minutes, until, action }: Edited,
  exchange: Exchange,
  deps: PageRoutesDeps,
): Promise<EditResult | 'saved'> {
  const document = await documentOf(text, deps)
  const { analysis } = deps
  const actor = actorOf(exchange, analysis)
  if (action === 'save') {
    await defineAnalysis(analysis, { application, document, origin: 'api' }, actor)
    return 'saved'
  }
  const definition = readUsableDefinition(document)
  const warnings = unknownKeys(definition.metrics?.canaryConfig)
  if (action !== 'run') return { kind: 'checked', warnings }
  const { judged, warnings: more } = await analysis.trials.try({
    ...{ application, definition: document, minutes, judges: true, ...actor },
    scopes: { baseline: {}, canary: {} },
    untilMs: until === '' ? undefined : Date.parse(`${until}Z`),
  })
  const body = judged === undefined ? '' : await analysis.reader.run(renderTrial, judged)
  return { kind: 'ran', body, warnings: [...new Set([...warnings, ...more])] }
}

/** Parses JSON, or YAML in a thread with limits. Raises `invalid`. */
async function documentOf(text: string, { policy }: PageRoutesDeps): Promise<unknown> {
  const isJson = text.trimStart().startsWith('{')
  const json = isJson ? text : await policy.readYaml(text, MAX_YAML_BYTES)
  return readDocumentText(json, 'the definition').document
}

function download({ application, text }: Edited): Response {
  const extension = text.trimStart().startsWith('{') ? 'json' : 'yaml'
  const name = application.replace(/[^\w.-]/g, '_')
  return new Response(text, {
    headers: {
      'Content-Type': 'text/plain; charset=utf-8',
      'Content-Disposition': `attachment; filename="${name}.${extension}"`,
      ...{ 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-store' },
    },
  })
}

interface ShownDefinition {
  readonly form: Pick<Edited, 'application' | 'text' | 'minutes' | 'until'>
  readonly stored: StoredDefinition | undefined
  readonly result?: EditResult | undefined
}

function definitionPage({ form, stored, result }: ShownDefinition, viewer: Viewer): PageContent {
  const { application, text } = form
  const title = application === '' ? 'Define an application' : `Definition of ${application}`
  const mayEdit = viewer.roles.includes('admin')
  const body = html`<h1>${title}</h1>
    ${
      stored === undefined
        ? ''
        : facts([
            ['defined', moment(stored.updatedMs)],
            ['by', stored.updatedBy ?? (stored.origin === 'configuration' ? 'a file' : undefined)],
            [
              'analyses',
              link(viewer.prefix, withQuery('/ui/analyses', { application }), `Show those of ${application}`),
            ],
          ])
    }
    ${result === undefined ? '' : resultSection(result)}
    ${mayEdit ? editForm({ form, stored, result }, viewer) : html`<pre tabindex="0">${text}</pre>`}`
  return { title, body, section: '/ui/analyses', ...(mayEdit && { usesEditor: true }) }
}

function resultSection(result: EditResult): Html {
  if (result.kind === 'problem') return problemNotice(result)
  const warnings = html`${result.warnings.map((warning) => html`<p class="soft">${warning}</p>`)}`
  return result.kind === 'checked'
    ? html`<section class="verdict good" role="status">
        <div>
          <strong>The definition is valid.</strong>
          ${warnings}
        </div>
      </section>`
    : html`<h2>What a run would have found</h2>
        ${warnings} ${raw(result.body)}
        <hr />`
}

function editForm({ form, stored, result }: ShownDefinition, viewer: Viewer): Html {
  const { application, text, minutes, until } = form
  const isFile = stored?.origin === 'configuration'
  const problems = result?.kind === 'problem' ? problemRows(text, result.details) : []
  return html`<form method="post" action="${viewer.prefix}${PATH}">
    ${tokenField(viewer)}
    ${
      stored === undefined
        ? html`<label for="application">Application</label>
            <input
              id="application"
              name="application"
              required
              maxlength="${MAX_NAME}"
              value="${application}"
            />`
        : html`<input type="hidden" name="application" value="${application}" />`
    }
    <label for="text">Definition, as YAML or JSON</label>
    <textarea
      class="code"
      id="text"
      name="text"
      required
      spellcheck="false"
      rows="24"
      data-language="yaml"
      data-problems="${JSON.stringify(problems)}"
    >
${text}</textarea>
    <div class="filter">
      <div>
        <label for="minutes">Minutes to judge</label>
        <input id="minutes" name="minutes" type="number" min="3" max="${MAX_MINUTES}" value="${minutes}" />
      </div>
      <div>
        <label for="until">Until (UTC; now if empty)</label>
        <input id="until" name="until" type="datetime-local" value="${until}" />
      </div>
    </div>
    <div class="row">
      <button name="action" value="check">Check</button>
      <button class="good" name="action" value="run">Run without storing</button>
      ${isFile ? '' : html`<button name="action" value="save">Save</button>`}
      <button name="action" value="download" data-download>Download</button>
    </div>
    ${
      isFile
        ? html`<p class="soft">
            A file defines this application: change <code>${application}.yaml</code> or
            <code>${application}.json</code> in <code>analysis.definitions</code>. It is read within two
            seconds.
          </p>`
        : html`<p class="soft">
            A file <code>APPLICATION.yaml</code> in <code>analysis.definitions</code> takes precedence over a
            saved definition.
          </p>`
    }
  </form>`
}
