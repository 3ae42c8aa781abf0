import { html } from 'hono/html'
import { z } from 'zod'

import { findDecision, queryDecisions } from '../../../decisions/query-decisions.js'
import type { Role } from '../../../config/sections/roles.js'
import { AppError } from '../../../errors/app-error.js'
import { readRegistryPage } from '../../../events/registry/registry-operations.js'
import { ImpactRequest } from '../../../impact/impact-request.js'
import {
  NEW_FILE,
  packageLength,
  parseDataPath,
  pathKey,
  pathOfKey,
  printPackageName,
  selectPackages,
} from '../../../rego/index.js'
import type { Snapshot, SourceText } from '../../../rego/index.js'
import { hasRole } from '../../exchange/caller-of.js'
import type { Exchange } from '../../exchange/exchange.js'
import { Lines, formBody } from '../../input/form-body.js'
import { textOf } from '../../input/path-parameter.js'
import { POLICY_READERS } from '../../pages/layout.js'
import { EDITOR_PATH, editorScript } from '../../pages/editor-script.js'
import { impactSection } from '../../pages/impact-section.js'
import { playgroundPage } from '../../pages/playground-page.js'
import type { InputChoice, PlaygroundForm, PlaygroundResult } from '../../pages/playground-page.js'
import { clock } from '../../pages/parts.js'
import { routesOf } from '../../pipeline/define-routes.js'
import { acceptsGzip } from '../../policy/data-answer.js'
import { requireLog } from './decisions.js'
import { FORM, PAGE, problemOf, showPage, viewerOf } from './page-route.js'
import type { PageRoutesDeps } from './page-route.js'

const PATH = '/ui/playground'
const READERS: readonly Role[] = ['author', 'auditor']
const MAX_NAME = 1000
const MAX_PATHS = 500
const EXAMPLE = `package playground

import rego.v1

deny contains "the input names no owner" if not input.owner
`
const Text = z.string().default('')
const Name = Text.pipe(z.string().trim().max(MAX_NAME))
const Trial = z.object({
  ...{ file: Name, text: Lines.default(''), path: Name, input: Lines.default(''), decision: Name },
  from: Name,
  action: z.enum(['evaluate', 'explain', 'impact', 'input']).default('evaluate'),
})
type Trial = z.output<typeof Trial>
/** Decisions and pipelines that the form offers as inputs. */
const MAX_CHOICES = 15
const REFRESH_SECONDS = '3'
/** The address of the script contains its version. */
const MAX_AGE = 'private, max-age=31536000, immutable'
const { route } = routesOf<PageRoutesDeps>()

/** The playground: a form for a policy and its input, and the result. */
export const playgroundPageRoutes = [
  route({
    ...PAGE,
    method: 'GET',
    path: PATH,
    roles: READERS,
    summary: 'The playground, as a page',
    query: z.looseObject({
      package: Text.describe('Package whose source is edited: `app.rules`.'),
      file: Text.describe('File that is edited.'),
      decision: Text.describe('Decision whose policy and input are edited.'),
      pipeline: Text.describe('Number of a pipeline of the registry, whose definition is the input.'),
      row: z.coerce.number().int().min(1).optional().describe('Line of the file that is shown first.'),
    }),
    answer: async ({ exchange, query: { package: name, file, decision, pipeline, row } }, deps) => {
      const { current } = deps.policies
      if (decision !== '' || pipeline !== '') refuseInputs(exchange)
      const key = keyOfName(current, name) ?? (pipeline === '' ? undefined : firstStatic(deps))
      const form =
        decision === ''
          ? formOf(current, key, file, pipeline === '' ? '{}' : await inputOf(`pipeline:${pipeline}`, deps))
          : await formOfDecision(decision, file, deps)
      return await show(exchange, deps, { form, result: undefined, row })
    },
  }),
  route({
    ...FORM,
    path: PATH,
    roles: READERS,
    summary: 'Evaluate, explain or compare a changed policy, from the form of the playground',
    body: formBody(Trial),
    answers: PAGE.answers,
    answer: async ({ exchange, body: sent }, deps) => {
      const form = sent.action === 'input' ? await withInput(sent, exchange, deps) : sent
      const { result, status } = await resultOf(form, deps)
      return await show(exchange, deps, { form, result }, status)
    },
  }),
  route({
    ...PAGE,
    method: 'GET',
    path: '/ui/impact/:impactId',
    roles: READERS,
    summary: 'A comparison of a changed policy with the policies that serve, as a page',
    params: { impactId: textOf('Id of the comparison.') },
    answer: ({ exchange, params: { impactId } }, deps) => {
      const run = deps.impact.get(impactId)
      const body = html`<h1>Impact of a change</h1>
        ${impactSection(run, viewerOf(exchange, deps))}`
      const headers = run.state === 'running' ? ([['Refresh', REFRESH_SECONDS]] as const) : []
      const content = { title: 'Impact of a change', body, section: '/ui/policies' } as const
      return showPage(content, exchange, deps, { headers })
    },
  }),
  route({
    ...PAGE,
    method: 'GET',
    path: EDITOR_PATH,
    roles: POLICY_READERS,
    summary: 'The script that turns text fields into editors',
    query: z.looseObject({ v: Text.describe('Version, so that browsers keep the script.') }),
    answers: { ...PAGE.answers, 200: { description: 'The script.', types: ['text/javascript'] } },
    answer: ({ exchange }) => {
      const script = editorScript()
      if (script === undefined) throw new AppError('not_found', 'The editor is not built. Run npm run build.')
      const headers = {
        'Content-Type': 'text/javascript; charset=utf-8',
        'X-Content-Type-Options': 'nosniff',
        'Cross-Origin-Resource-Policy': 'same-origin',
        ...{ 'Cache-Control': MAX_AGE, Vary: 'Accept-Encoding' },
      }
      return acceptsGzip(exchange)
        ? new Response(script.gzipped, { headers: { ...headers, 'Content-Encoding': 'gzip' } })
        : new Response(script.plain, { headers })
    },
  }),
]

interface Outcome {
  readonly form: PlaygroundForm
  readonly result: PlaygroundResult | undefined
  readonly row?: number | undefined
}

async function show(
  exchange: Exchange,
  deps: PageRoutesDeps,
  { form, result, row }: Outcome,
  status = 200,
): Promise<Response> {
  const choices = mayReadInputs(exchange) ? await choicesOf(deps) : []
  const shown = { form, result, row, choices, paths: pathsOf(deps.policies.current) }
  return await showPage(playgroundPage(shown, viewerOf(exchange, deps)), exchange, deps, { status })
}

function mayReadInputs({ caller }: Exchange): boolean {
  return hasRole(caller, 'auditor')
}

function refuseInputs(exchange: Exchange): void {
  if (mayReadInputs(exchange)) return
  throw new AppError('forbidden', 'The inputs of decisions and pipelines require the role auditor.')
}

/** Returns the latest decisions and some pipelines. */
async function choicesOf({ decisions, registry }: PageRoutesDeps): Promise<readonly InputChoice[]> {
  const latest = decisions && (await queryDecisions(decisions, { limit: MAX_CHOICES, inputs: 'false' }))
  const pipelines = await registry.reader.run(readRegistryPage, {
    ...({ kind: 'pipeline', withDeleted: false, limit: MAX_CHOICES } as const),
    ...{ applicationKey: undefined, nameContains: undefined, afterId: undefined },
  })
  return [
    ...(latest?.decisions ?? []).map(({ decisionId, outcome, path, time }) => ({
      value: `decision:${decisionId}`,
      label: `decision: ${outcome}, ${path}, ${clock(Date.parse(time))}`,
    })),
    ...pipelines.map(({ id, name, application }) => ({
      value: `pipeline:${id}`,
      label: `pipeline: ${name} of ${application}`,
    })),
  ]
}

async function resultOf(
  form: Trial,
  deps: PageRoutesDeps,
): Promise<{ readonly result: PlaygroundResult; readonly status: number }> {
  try {
    return { result: await run(form, deps), status: 200 }
  } catch (raw) {
    return problemOf(raw)
  }
}

async function run(
  { file, text, path, input, action }: Trial,
  deps: PageRoutesDeps,
): Promise<PlaygroundResult> {
  if (action === 'impact') {
    const over = deps.decisions === undefined ? ['pipelines'] : ['decisions', 'pipelines']
    const changes = { [file === '' ? NEW_FILE : file]: text }
    const request = ImpactRequest.parse({ policies: { name: 'the edited policy', changes }, over })
    return { kind: 'impact', run: deps.impact.start(request) }
  }
  const tried = await deps.trials.trySource({
    file: file === '' ? undefined : file,
    ...{ text, path, explain: action === 'explain' },
    input: input.trim() === '' ? undefined : checkedJson(input),
  })
  return { kind: 'tried', tried }
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

function firstStatic({ policies: { current }, policy }: PageRoutesDeps): string | undefined {
  return selectPackages(current, policy.staticPackages)[0]
}

/** Returns the form with a file of a package; with an example without one. */
function formOf(
  snapshot: Snapshot,
  key: string | undefined,
  file = '',
  input = '{}',
  decision = '',
): PlaygroundForm {
  const sources: readonly SourceText[] = key === undefined ? [] : snapshot.sourcesOf(key)
  const source = sources.find((each) => each.file === file) ?? sources[0]
  const path = key === undefined ? 'playground/deny' : pathOfKey(key).join('/')
  return { file: source?.file ?? '', text: source?.text ?? EXAMPLE, path, input, decision }
}

/** Returns the form with the policy and the input of a decision. */
async function formOfDecision(
  decisionId: string,
  file: string,
  deps: PageRoutesDeps,
): Promise<PlaygroundForm> {
  const { current } = deps.policies
  const decision = await findDecision(requireLog(deps), decisionId)
  const { packages } = decision
  const denying = packages === undefined ? [] : (JSON.parse(packages.text) as { readonly package?: string }[])
  const path = parseDataPath(decision.kind === 'static' ? '' : decision.path)
  const length = packageLength(current, path)
  const key =
    current.packages.find((each) => current.sourcesOf(each).some((source) => source.file === file)) ??
    keyOfName(current, denying[0]?.package ?? '') ??
    (length === 0 ? undefined : pathKey(path.slice(0, length)))
  return formOf(current, key, file, await inputOf(`decision:${decisionId}`, deps), decisionId)
}

/** Returns the form with the chosen input. */
async function withInput(form: Trial, exchange: Exchange, deps: PageRoutesDeps): Promise<Trial> {
  refuseInputs(exchange)
  const [kind, id = ''] = form.from.split(':')
  const input = await inputOf(form.from, deps)
  return { ...form, input, decision: kind === 'decision' ? id : '', action: 'evaluate' }
}

/** Returns the input of `decision:ID` or `pipeline:NUMBER`. Raises `not_found`. */
async function inputOf(choice: string, deps: PageRoutesDeps): Promise<string> {
  const [kind, id = ''] = choice.split(':')
  if (kind === 'decision') {
    const { input } = await findDecision(requireLog(deps), id)
    return input === undefined ? '' : indented(input.text)
  }
  const [newest] = /^\d{1,15}$/.test(id) ? await deps.registry.lookups.versions(Number(id), 1) : []
  if (newest?.definition !== undefined) return indented(`{"new":${newest.definition}}`)
  throw new AppError('not_found', `There is no pipeline ${id} in the registry.`)
}

function indented(json: string): string {
  return JSON.stringify(JSON.parse(json), null, 2)
}
