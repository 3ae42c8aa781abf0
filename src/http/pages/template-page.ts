import { html } from 'hono/html'

import type { TemplateType } from '../../store/ports/analysis-store.js'
import { tokenField } from './layout.js'
import type { PageContent, Viewer } from './layout.js'
import { notice } from './sign-in-page.js'

export interface ShownTemplate {
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
export function templatePage(
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
