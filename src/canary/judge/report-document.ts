import type { JudgeReport, MetricResult } from './series/types.js'

/**
 * A report as a JSON value: the shape of Kayenta's result (analysis.md 1.2) plus the findings of
 * the default judge. `warnings` are sentences about unread members of the config.
 */
export function reportDocument(
  { judgeName, score, verdict, endsRun, groupScores, results }: JudgeReport,
  warnings: readonly string[] = [],
): object {
  return {
    ...{ judgeName, score, verdict, endsRun },
    ...(warnings.length > 0 && { warnings }),
    groupScores,
    results: results.map(resultDocument),
  }
}

function resultDocument(result: MetricResult): object {
  const { controlStats, experimentStats, ratio, finding, noData, ...rest } = result
  return {
    ...rest,
    ...(noData === null ? {} : { noData }),
    experimentMetadata: { stats: experimentStats },
    controlMetadata: { stats: controlStats },
    resultMetadata: { ratio },
    ...(finding === null ? {} : { finding }),
  }
}
