import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { AppError } from '../../../src/errors/app-error.js'
import { inTemporaryDirectory } from '../../../src/lib/temporary-directory.js'
import { hostBuiltins } from '../../../src/rego/builtins/index.js'
import { evaluateValue, planDocument } from '../../../src/rego/evaluation/evaluate-document.js'
import { loadSnapshot } from '../../../src/rego/loading/load-snapshot.js'
import { evaluateWithAnswers } from '../../../src/rego/requests/evaluate-with-answers.js'
import type { OpaProgram } from '../../../src/rego/opa/find-opa.js'
import { parseRegoText } from '../../../src/rego/values/parse-text.js'
import { printJson } from '../../../src/rego/values/print-text.js'
import { RegoObject } from '../../../src/rego/values/value.js'
import { DEFAULT_LIMITS } from '../default-limits.js'
import { loopbackRequests } from '../policy-requests.js'
import type { Outcome } from './outcome.js'
import type { ConformanceCase } from './read-cases.js'

const DOCUMENT_QUERY = /^data\.(?<path>\w+(?:\.\w+)*) = (?<variable>(?!input$)[a-z]\w*)$/

/**
 * Compiles the modules of a case like a directory of policies and evaluates the document that it
 * names.
 */
export async function evaluateCase(opa: OpaProgram, test: ConformanceCase): Promise<Outcome> {
  const groups = DOCUMENT_QUERY.exec(test.query)?.groups
  const { path, variable } = groups ?? {}
  if (path === undefined || variable === undefined) return failure('query', 'the query names no document')
  try {
    return await inTemporaryDirectory(async (directory) => {
      await writeSources(directory, test)
      const snapshot = await loadSnapshot(
        { directories: [directory], bundles: [] },
        { findOpa: () => Promise.resolve(opa), builtins: hostBuiltins, limits: DEFAULT_LIMITS },
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
