import { inTemporaryDirectory } from '../../../src/lib/temporary-directory.js'
import type { OpaProgram } from '../../../src/rego/opa/find-opa.js'
import { runOpa } from '../../../src/rego/opa/run-opa.js'
import { parseRegoText } from '../../../src/rego/values/parse-text.js'
import { printJson } from '../../../src/rego/values/print-text.js'
import { RegoObject } from '../../../src/rego/values/value.js'
import type { RegoValue } from '../../../src/rego/values/value.js'
import { writeSources } from './evaluate-case.js'
import type { Outcome } from './outcome.js'
import type { ConformanceCase } from './read-cases.js'

/** The result of the `opa` program for a case. */
export async function askOpa(opa: OpaProgram, test: ConformanceCase): Promise<Outcome> {
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
