import type { Command } from 'commander'

import { checkDefinition, explainUnasked, staticPackages, toCheckError } from './check/check-definition.js'
import { checkReportJson, checkReportText, policyReportText, summarise } from './check/check-report.js'
import type { CheckResult, Unchecked } from './check/check-report.js'
import { findDefinitions } from './check/find-definitions.js'
import { EXIT } from './session/session.js'
import type { ExitCode, Session } from './session/session.js'
import { findInputWarnings, tellWarnings } from './input/find-warnings.js'
import type { SchemaOptions } from './input/find-warnings.js'
import { loadOptions, openPolicies } from './input/open-policies.js'
import type { OpenPolicies } from './input/open-policies.js'
import { makeColours } from './output/colours.js'
import { Progress } from './output/progress.js'
import { wrongUse } from './session/session.js'
import { count } from './output/text-table.js'
import { readDefinitions } from './input/read-definitions.js'
import type { InputForm } from './input/read-definitions.js'
import { readDocument } from './input/read-document.js'
import {
  addInputFormOption,
  addOutputOptions,
  addPolicyOptions,
  addSchemaOption,
  examples,
  outJson,
} from './session/shared-options.js'
import type { OutputOptions, PolicyOptions } from './session/shared-options.js'
import type { Terminal } from './session/terminal.js'

interface CheckOptions extends PolicyOptions, OutputOptions, SchemaOptions {
  readonly as?: InputForm
}

/** `tidegate check`: what the static policies would say if these pipelines were saved. */
export function defineCheck(command: Command, session: Session): void {
  addOutputOptions(addSchemaOption(addInputFormOption(addPolicyOptions(command))))
    .description(
      'Asks the static policies about pipeline definitions, as the orchestrator does when one is saved. Exits with 1 when one is denied, with 2 when one cannot be checked. What is wrong with the policies themselves is told on standard error; with --schema and no path only that.',
    )
    .argument(
      '[path...]',
      'definitions as JSON: files, directories (all *.json below), or - for standard input',
    )
    .addHelpText(
      'after',
      examples(
        'tidegate check pipeline.json',
        'tidegate check --format json pipelines/',
        'tidegate check --schema default',
      ),
    )
    .action(async (paths: readonly string[], options: CheckOptions) => {
      session.exitCode = await check(paths, options, session.terminal)
    })
}

async function check(paths: readonly string[], options: CheckOptions, terminal: Terminal): Promise<ExitCode> {
  // Without that, an empty list of files would pass for one that was checked.
  if (paths.length === 0 && options.schema === undefined) throw wrongUse("missing required argument 'path'")
  const policies = await openPolicies(options, terminal)
  const { config, snapshot, directories } = policies
  const load = loadOptions(config, terminal)
  const warnings = [
    ...snapshot.warnings,
    ...(await findInputWarnings(directories, options, config.policies, load)),
  ]
  tellWarnings(warnings, options.format, terminal)
  const packages = paths.length === 0 ? [] : staticPackages(policies)
  const unasked = explainUnasked(policies)
  if (unasked !== undefined && options.format === 'text') terminal.err(`${unasked}\n`)
  const found = await Promise.all(paths.map((path) => collect(path, () => findDefinitions(path))))
  const progress = new Progress(terminal)
  const results: CheckResult[] = []
  for (const file of found.flat()) {
    progress.show(`checking … ${count(results.length, 'pipeline')}`)
    results.push(
      ...(typeof file === 'string'
        ? await checkFile(file, options.as, { policies, packages, terminal })
        : [file]),
    )
  }
  progress.end()
  if (options.format === 'json') outJson(terminal, checkReportJson(results, warnings))
  else if (paths.length === 0) terminal.out(policyReportText(snapshot.packages.length, warnings.length))
  else terminal.out(checkReportText(results, makeColours(terminal.hasColours)))
  return exitCodeOf(results)
}

async function checkFile(
  file: string,
  form: InputForm | undefined,
  {
    policies,
    packages,
    terminal,
  }: { policies: OpenPolicies; packages: readonly string[]; terminal: Terminal },
): Promise<CheckResult[]> {
  const definitions = await collect(file, async () => {
    const document = await readDocument(file, terminal)
    return readDefinitions(document, form)
  })
  const results: CheckResult[] = []
  for (const definition of definitions)
    results.push(
      'error' in definition ? definition : await checkDefinition(file, definition, policies, packages),
    )
  return results
}

/** One path that cannot be read must not hide what is wrong with the others. */
async function collect<T>(file: string, read: () => Promise<T[]>): Promise<(T | Unchecked)[]> {
  try {
    return await read()
  } catch (raw) {
    return [{ file, name: undefined, error: toCheckError(raw) }]
  }
}

function exitCodeOf(results: readonly CheckResult[]): ExitCode {
  const { errors, denied } = summarise(results)
  if (errors > 0) return EXIT.error
  return denied > 0 ? EXIT.denied : EXIT.fine
}
