import { html } from 'hono/html'

import type { ErrorDetail } from '../../errors/app-error.js'
import { jsonTree } from './json-tree.js'
import { tokenField } from './layout.js'
import type { Html, PageContent, Viewer } from './layout.js'
import { notice } from './sign-in-page.js'

/** The fields of the playground. */
export interface PlaygroundForm {
  /** Loaded file that the text replaces; empty for a new one. */
  readonly file: string
  readonly text: string
  readonly path: string
  /** JSON; empty without an input. */
  readonly input: string
}

/** What an evaluation gave. */
export type PlaygroundResult =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'undefined' }
  | { readonly kind: 'problem'; readonly message: string; readonly details: readonly ErrorDetail[] }

export interface ShownPlayground {
  readonly form: PlaygroundForm
  readonly result: PlaygroundResult | undefined
  /** Paths of the loaded packages, as suggestions. */
  readonly paths: readonly string[]
}

/** Renders the editor for a policy and its input, with the result of the last evaluation. */
export function playgroundPage({ form, result, paths }: ShownPlayground, viewer: Viewer): PageContent {
  const { file, text, path, input } = form
  const body = html`<h1>Playground</h1>
    <p class="soft">
      Evaluates a document with this policy, together with the other loaded policies and data. Nothing is
      recorded, nothing is put in service, and policies reach no other host.
    </p>
    ${result === undefined ? '' : resultSection(result)}
    <form method="post" action="${viewer.prefix}/ui/playground">
      ${tokenField(viewer)}
      <input type="hidden" name="file" value="${file}" />
      <label for="text">Policy${file === '' ? '' : `, instead of the loaded ${file}`}</label>
      <textarea class="code" id="text" name="text" required spellcheck="false" rows="20">${text}</textarea>
      <label for="path">Document to evaluate, such as app/rules/deny</label>
      <input id="path" name="path" required maxlength="1000" value="${path}" list="known-paths" />
      <datalist id="known-paths">${paths.map((each) => html`<option value="${each}"></option>`)}</datalist>
      <label for="input">Input as JSON</label>
      <textarea class="code" id="input" name="input" spellcheck="false">${input}</textarea>
      <button class="good">Evaluate</button>
    </form>`
  return { title: 'Playground', body, section: '/ui/policies' }
}

function resultSection(result: PlaygroundResult): Html {
  if (result.kind === 'problem') {
    return html`${notice(result.message)}
      <ul>
        ${result.details.map(
          ({ message, location }) =>
            html`<li class="quote">
              ${location === undefined ? '' : html`<code>${location.file}:${location.row}</code> `}${message}
            </li>`,
        )}
      </ul>`
  }
  return html`<section class="verdict" role="status">
    <div>
      <h2>Result</h2>
      ${result.kind === 'undefined' ? html`<p>The document is undefined for this input.</p>` : jsonTree(result.value)}
    </div>
  </section>`
}
