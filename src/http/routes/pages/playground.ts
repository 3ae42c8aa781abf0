import { z } from 'zod'
import { html } from 'hono/html'

import { findDecision } from '../../../decisions/query-decisions.js'
import { AppError } from '../../../errors/app-error.js'
import { parseDataPath, packageLength, pathKey, pathOfKey, printPackageName } from '../../../rego/index.js'
import type { Snapshot, SourceText } from '../../../rego/index.js'
import { errorAnswer } from '../../exchange/error-body.js'
import { formBody } from '../../input/form-body.js'
import { routesOf } from '../../pipeline/define-routes.js'
import { requireLog } from './decisions.js'
import { FORM, PAGE, showPage, viewerOf } from './page-route.js'
import type { PageRoutesDeps } from './page-route.js'
import type { ErrorDetail } from '../../../errors/app-error.js'
import { jsonTree } from '../../pages/json-tree.js'
import { tokenField } from '../../pages/layout.js'
import type { Html, PageContent, Viewer } from '../../pages/layout.js'
import { notice } from '../../pages/sign-in-page.js'

const PATH = '/ui/playground'
const MAX_NAME = 1000
const MAX_PATHS = 500
const EXAMPLE = `package playground

import rego.v1

deny contains "the input names no owner" if not input.owner
`
const Text = z.string().default('')
/** Browsers send two characters for a line break. */
const Lines = Text.overwrite((text) => text.replaceAll('\r\n', '\n'))
const Trial = z.object({
  file: Text.pipe(z.string().max(MAX_NAME)),
  text: Lines,
  path: Text.pipe(z.string().trim().max(MAX_NAME)),
  input: Lines,
})
const { route } = routesOf<PageRoutesDeps>()

/** The playground: a form for a policy and its input, and the result. */
export const playgroundPageRoutes = [
  route({
    ...PAGE,
    method: 'GET',
    path: PATH,
    roles: ['author', 'auditor'],
    summary: 'The playground, as a page',
    query: z.looseObject({
      package: Text.describe('Package whose source is edited: `app.rules`.'),
      file: Text.describe('File of the package.'),
      decision: Text.describe('Decision whose policy and input are edited.'),
    }),
    answer: async ({ exchange, query: { package: name, file, decision } }, deps) => {
      const { current } = deps.policies
      const { isAdmin, roles = [] } = exchange.caller
      if (decision !== '' && !isAdmin && !roles.includes('auditor'))
        throw new AppError('forbidden', 'The input of a decision requires the role auditor.')
      const form =
        decision === ''
          ? formOf(current, keyOfName(current, name), file)
          : await formOfDecision(decision, deps)
      const content = playgroundPage(
        { form, result: undefined, paths: pathsOf(current) },
        viewerOf(exchange, deps),
      )
      return showPage(content, exchange, deps)
    },
  }),
  route({
    ...FORM,
    path: PATH,
    roles: ['author', 'auditor'],
    summary: 'Evaluate a changed policy, from the form of the playground',
    body: formBody(Trial),
    answers: PAGE.answers,
    answer: async ({ exchange, body: form }, deps) => {
      const { result, status } = await evaluate(form, deps)
      const paths = pathsOf(deps.policies.current)
      const content = playgroundPage({ form, result, paths }, viewerOf(exchange, deps))
      return showPage(content, exchange, deps, { status })
    },
  }),
]

async function evaluate(
  { file, text, path, input }: PlaygroundForm,
  { trySource }: PageRoutesDeps,
): Promise<{ readonly result: PlaygroundResult; readonly status: number }> {
  try {
    const value = await trySource({
      file: file === '' ? undefined : file,
      ...{ text, path },
      input: input.trim() === '' ? undefined : checkedJson(input),
    })
    return { result: value === undefined ? { kind: 'undefined' } : { kind: 'value', value }, status: 200 }
  } catch (raw) {
    if (!(raw instanceof AppError) || raw.kind === 'internal') throw raw
    const { message, details } = raw
    return { result: { kind: 'problem', message, details }, status: errorAnswer(raw).status }
  }
}

function checkedJson(text: string): string {
  try {
    JSON.parse(text)
    return text
  } catch (cause) {
    throw new AppError('invalid', 'The input is not valid JSON.', { cause })
  }
}

function pathsOf({ packages }: Snapshot): readonly string[] {
  return packages.slice(0, MAX_PATHS).map((key) => pathOfKey(key).join('/'))
}

function keyOfName({ packages }: Snapshot, name: string): string | undefined {
  return packages.find((key) => printPackageName(pathOfKey(key)) === name)
}

/** Returns the form with a file of a package; with an example without one. */
function formOf(snapshot: Snapshot, key: string | undefined, file = '', input = '{}'): PlaygroundForm {
  const sources: readonly SourceText[] = key === undefined ? [] : snapshot.sourcesOf(key)
  const source = sources.find((each) => each.file === file) ?? sources[0]
  const path = key === undefined ? 'playground/deny' : pathOfKey(key).join('/')
  return { file: source?.file ?? '', text: source?.text ?? EXAMPLE, path, input }
}

/** Returns the form with the policy and the input of a decision. */
async function formOfDecision(decisionId: string, deps: PageRoutesDeps): Promise<PlaygroundForm> {
  const { current } = deps.policies
  const decision = await findDecision(requireLog(deps), decisionId)
  const { input, packages } = decision
  const denying = packages === undefined ? [] : (JSON.parse(packages.text) as { readonly package?: string }[])
  const path = parseDataPath(decision.kind === 'static' ? '' : decision.path)
  const length = packageLength(current, path)
  const key =
    keyOfName(current, denying[0]?.package ?? '') ??
    (length === 0 ? undefined : pathKey(path.slice(0, length)))
  return formOf(current, key, '', input === undefined ? '' : JSON.stringify(JSON.parse(input.text), null, 2))
}

/** The fields of the playground. */
interface PlaygroundForm {
  /** Loaded file that the text replaces; empty for a new one. */
  readonly file: string
  readonly text: string
  readonly path: string
  /** JSON; empty without an input. */
  readonly input: string
}

/** What an evaluation gave. */
type PlaygroundResult =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'undefined' }
  | { readonly kind: 'problem'; readonly message: string; readonly details: readonly ErrorDetail[] }

interface ShownPlayground {
  readonly form: PlaygroundForm
  readonly result: PlaygroundResult | undefined
  /** Paths of the loaded packages, as suggestions. */
  readonly paths: readonly string[]
}

/** Renders the editor for a policy and its input, with the result of the last evaluation. */
function playgroundPage({ form, result, paths }: ShownPlayground, viewer: Viewer): PageContent {
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
