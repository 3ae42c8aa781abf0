import { z } from 'zod'
import { html } from 'hono/html'

import { findTemplate, listTemplates } from '../../../analysis/runs/template-operations.js'
import type { TemplateType } from '../../../store/ports/analysis-store.js'
import { AppError } from '../../../errors/app-error.js'
import { errorAnswer } from '../../exchange/error-body.js'
import type { Exchange } from '../../exchange/exchange.js'
import { formBody } from '../../input/form-body.js'
import { readDocumentText } from '../../input/read-document.js'
import { textOf } from '../../input/path-parameter.js'
import { goTo } from '../../pages/answer-page.js'
import { routesOf } from '../../pipeline/define-routes.js'
import type { Route } from '../../pipeline/route.js'
import { keepTemplate } from '../analysis/templates.js'
import { FORM, PAGE, showPage, viewerOf } from './page-route.js'
import type { PageRoutesDeps } from './page-route.js'
import { tokenField } from '../../pages/layout.js'
import type { PageContent, Viewer } from '../../pages/layout.js'
import { notice } from '../../pages/sign-in-page.js'

/** Name in the orchestrator UI's link for a new template. */
const NEW = 'null'
const Template = z.object({
  name: z
    .string()
    .trim()
    .min(1)
    .max(200)
    .refine((name) => name !== NEW, 'must be another name; null is reserved'),
  body: z.string(),
})
const NAME = { name: textOf('The name of the template.') }
const LINK = '/ui/plugin-isd'
const { route } = routesOf<PageRoutesDeps>()

/** Template pages, which the editor of a verification stage embeds, and their forms. */
export const templatePageRoutes = [
  ...routesOfType(
    'METRIC',
    'metric',
    `${LINK}/metric-template/:application/:applicationId/:name/:settings/:email/:place/:edit/:mode/fromPlugin`,
  ),
  ...routesOfType(
    'LOG',
    'log',
    `${LINK}/log-template/:application/:applicationId/:name/:email/:edit/:mode/fromPlugin`,
  ),
]

function routesOfType(type: TemplateType, word: string, link: string): readonly Route<PageRoutesDeps>[] {
  const path = `/ui/templates/${word}`
  return [shownAt(`${path}/:name`, type, word), shownAt(link, type, word), saved(path, type, word)]
}

/** Other parts of the path are for the orchestrator's UI and ignored here. */
function shownAt(path: string, type: TemplateType, word: string): Route<PageRoutesDeps> {
  const others = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name).filter((name) => name !== 'name')
  const ignored = others.map(
    (name) => [name, textOf('Set by the UI that created the link; ignored.')] as const,
  )
  return route<{ readonly name: string }>({
    ...PAGE,
    method: 'GET',
    path,
    roles: ['approver', 'auditor'],
    summary: `A ${word} template, as a page`,
    params: { ...Object.fromEntries(ignored), ...NAME },
    answer: ({ exchange, params: { name } }, deps) => answerTemplate(exchange, type, name, deps),
  })
}

function saved(path: string, type: TemplateType, word: string): Route<PageRoutesDeps> {
  return route({
    ...FORM,
    path,
    roles: ['admin'],
    summary: `Store a ${word} template, from the form of its page`,
    body: formBody(Template),
    answer: async ({ exchange, body: { name, body: given } }, deps) => {
      try {
        const { text } = readDocumentText(given, 'the template')
        await keepTemplate(exchange, { type, name, body: text }, deps.analysis)
      } catch (raw) {
        if (!(raw instanceof AppError) || raw.kind !== 'invalid') throw raw
        exchange.failure = raw
        return await answerTemplate(exchange, type, name, deps, { body: given, refusal: raw })
      }
      return goTo(`${deps.page.prefix}${path}/${encodeURIComponent(name)}`)
    },
  })
}

async function answerTemplate(
  exchange: Exchange,
  type: TemplateType,
  name: string,
  deps: PageRoutesDeps,
  refused?: { readonly body: string; readonly refusal: AppError },
): Promise<Response> {
  const { reader } = deps.analysis
  const isNew = name === NEW
  const found = isNew ? undefined : await reader.run(findTemplate, { type, name })
  const names = await reader.run(listTemplates, type)
  const viewer = { ...viewerOf(exchange, deps), mayChange: exchange.caller.isAdmin }
  const shown = { type, name: isNew ? undefined : name, body: refused?.body ?? found?.body, names }
  const content = templatePage({ ...shown, problem: refused?.refusal.message }, viewer)
  return showPage(content, exchange, deps, refused && { status: errorAnswer(refused.refusal).status })
}

interface ShownTemplate {
  readonly type: TemplateType
  /** Undefined for a new template. */
  readonly name: string | undefined
  /** JSON; undefined if the template does not exist. */
  readonly body: string | undefined
  /** Names of all templates of the type. */
  readonly names: readonly string[]
  /** Why the submitted template was refused. */
  readonly problem?: string | undefined
}

/** Renders a template, with an edit form for admins. */
function templatePage(
  { type, name, body, names, problem }: ShownTemplate,
  viewer: Viewer & { readonly mayChange: boolean },
): PageContent {
  const kind = type === 'LOG' ? 'log' : 'metric'
  const title =
    name === undefined ? `New ${kind} template` : `${kind === 'log' ? 'Log' : 'Metric'} template ${name}`
  const base = `${viewer.prefix}/ui/templates/${kind}`
  const content = html`<h1>${title}</h1>
    ${problem === undefined ? '' : notice(problem)}
    ${name !== undefined && body === undefined ? html`<p class="none">Template not found.</p>` : ''}
    ${
      viewer.mayChange
        ? html`<form method="post" action="${base}">
            ${tokenField(viewer)}
            <label for="name">Name</label>
            <input id="name" name="name" required maxlength="200" value="${name ?? ''}" />
            <label for="body">Template, as JSON</label>
            <textarea class="code" id="body" name="body" required spellcheck="false">${body ?? ''}</textarea>
            <button class="good">Save</button>
          </form>`
        : html`<pre>${body ?? ''}</pre>
            <p class="soft">Only admins can change templates.</p>`
    }
    ${
      names.length === 0
        ? ''
        : html`<h2>All ${kind} templates</h2>
            <ul>
              ${names.map((each) => html`<li><a href="${base}/${encodeURIComponent(each)}">${each}</a></li>`)}
            </ul>`
    }`
  return { title, body: content }
}
