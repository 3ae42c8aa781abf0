import type { Definition } from '../../orchestrator/definition.js'
import { pipelineName } from '../../orchestrator/store-report.js'
import { checkDefinition } from '../check/check-definition.js'
import type { Checking } from '../check/check-definition.js'
import type { CheckResult } from '../check/check-report.js'
import { applicationKey } from '../../events/registry/registry-change.js'

/** What the static policies say of a pipeline, asked as the orchestrator's save asks; its application stands for the file. */
export function checkPipeline(
  definition: Definition,
  checking: Checking,
  packages: readonly string[],
): Promise<CheckResult> {
  const { application } = definition
  const place = typeof application === 'string' ? application : '(without an application)'
  const input = Buffer.from(JSON.stringify({ new: definition }))
  return checkDefinition(
    place,
    { name: pipelineName(definition), input, form: 'pipeline' as const },
    checking,
    packages,
  )
}

/** Whether a pipeline is of an application; every one is where none is named. */
export function isOf({ application }: Definition, wanted: string | undefined): boolean {
  if (wanted === undefined) return true
  return typeof application === 'string' && applicationKey(application) === applicationKey(wanted)
}
