import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { AppError } from '../../../src/errors/app-error.js'
import { inTemporaryDirectory } from '../../../src/lib/temporary-directory.js'
import { hostBuiltins } from '../../../src/rego/builtins/index.js'
import { evaluateValue, planDocument } from '../../../src/rego/evaluation/evaluate-document.js'
import { loadSnapshot } from '../../../src/rego/loading/load-snapshot.js'
import type { LoadOptions } from '../../../src/rego/loading/load-snapshot.js'
import { evaluateWithAnswers } from '../../../src/rego/requests/policy-requests.js'
import type { OpaProgram } from '../../../src/rego/opa/find-opa.js'
import { parseRegoText } from '../../../src/rego/values/parse-text.js'
import { printJson } from '../../../src/rego/values/print-text.js'
import { RegoObject } from '../../../src/rego/values/value.js'
import type { RegoValue } from '../../../src/rego/values/value.js'
import { DEFAULT_LIMITS } from '../default-limits.js'
import { loopbackRequests } from '../policy-requests.js'
import type { Outcome } from './outcome.js'
import type { ConformanceCase } from './read-cases.js'
import { runOpa } from '../../../src/rego/opa/run-opa.js'

const DOCUMENT_QUERY = /^data\.(?<path>\w+(?:\.\w+)*) = (?<variable>(?!input$)[a-z]\w*)$/

/**
 * Compiles the modules of a case like a directory of policies and evaluates the document that it
 * names.
 */
export async function evaluateCase(
  opa: OpaProgram,
  test: ConformanceCase,
  buildModule?: LoadOptions['buildModule'],
): Promise<Outcome> {
  const groups = DOCUMENT_QUERY.exec(test.query)?.groups
  const { path, variable } = groups ?? {}
  if (path === undefined || variable === undefined) return failure('query', 'the query names no document')
  try {
    return await inTemporaryDirectory(async (directory) => {
      await writeSources(directory, test)
      const snapshot = await loadSnapshot(
        { directories: [directory], bundles: [] },
        {
          findOpa: () => Promise.resolve(opa),
          builtins: hostBuiltins,
          limits: DEFAULT_LIMITS,
          ...(buildModule && { buildModule }),
        },
      )
      const plan = planDocument(snapshot, path.split('.'))
      const value = await evaluateWithAnswers(
        (call) => evaluateValue(plan, inputBytes(test), call),
        loopbackRequests({ allowedHosts: ['localhost', '10.0.0.0'] }),
        { strictBuiltinErrors: test.isStrict },
      )
      return { bindings: value === undefined ? [] : [new RegoObject([[variable, value]])] }
    })
  } catch (raw) {
    if (!(raw instanceof AppError)) throw raw
    const [detail] = raw.details
    return failure(detail?.code ?? raw.code, detail?.message ?? raw.message)
  }
}

/** Modules as files with their data, laid out like a directory of policies. */
export async function writeSources(directory: string, { modules, data }: ConformanceCase): Promise<void> {
  await mkdir(directory, { recursive: true })
  await writeFile(join(directory, 'data.json'), printJson(data))
  for (const [index, text] of modules.entries()) {
    await writeFile(join(directory, `module-${index}.rego`), text)
  }
}

function inputBytes({ input, inputTerm }: ConformanceCase): Uint8Array | undefined {
  const value = inputTerm === undefined ? input : parseRegoText(inputTerm)
  return value === undefined ? undefined : Buffer.from(printJson(value))
}

function failure(errorCode: string, message: string): Outcome {
  return { errorCode, message }
}

/** The result of the `opa` program for a case. */
export async function evaluateWithOpa(opa: OpaProgram, test: ConformanceCase): Promise<Outcome> {
  return await inTemporaryDirectory(async (cwd) => {
    await writeSources(cwd, test)
    const strict = test.isStrict ? ['--strict-builtin-errors'] : []
    const version = test.modules.every((text) => text.includes('import rego.v1')) ? [] : ['--v1-compatible']
    const input = inputText(test) === '' ? [] : ['--stdin-input']
    const args = ['eval', '--format', 'json', '--data', '.', ...strict, ...version, ...input, test.query]
    const run = await runOpa(opa, args, { cwd, stdin: inputText(test) })
    if (!run.stdout.startsWith('{')) return { errorCode: 'opa', message: run.stderr }
    return toOutcome(parseRegoText(run.stdout) as RegoObject)
  })
}

function inputText({ input, inputTerm }: ConformanceCase): string {
  if (inputTerm !== undefined) return inputTerm
  return input === undefined ? '' : printJson(input)
}

function toOutcome(answer: RegoObject): Outcome {
  const [error] = (answer.get('errors') ?? []) as RegoObject[]
  if (error !== undefined) {
    const code = error.get('code')
    const message = error.get('message')
    return {
      errorCode: typeof code === 'string' ? code : 'error',
      message: typeof message === 'string' ? message : '',
    }
  }
  const results = (answer.get('result') ?? []) as RegoObject[]
  return { bindings: results.map(bindingsOf) }
}

/** Without a variable to bind, a result is there or not: OPA's own suite writes `{}` for it. */
function bindingsOf(result: RegoObject): RegoObject {
  const bindings: RegoValue | undefined = result.get('bindings')
  return bindings instanceof RegoObject ? bindings : new RegoObject([])
}
