export { DEFAULT_THRESHOLDS, anyCase, readCanaryConfig, readMetricSpecs } from './judge/canary-config.js'
export { judgeMetrics } from './judge/judge-run.js'
export { reportDocument } from './judge/judge-run.js'
export { countedOutOf } from './judge/series/exposure.js'
export type {
  Finding,
  JudgeInput,
  JudgeOptions,
  JudgeReport,
  MetricResult,
  MetricSeries,
  MetricSpec,
  ScoreThresholds,
  SeriesStats,
  Side,
  UsualSpread,
} from './judge/series/types.js'
export { CanaryQuery, type CanaryQueryMembers, unknownKeys } from './judge/unknown-keys.js'
export { TemplateTable } from './logs/grouping/template-table.js'
export type { Templates } from './logs/grouping/templates.js'
export { judgeLogs, logJudgeOptions } from './logs/judge-logs.js'
export { type LogTemplate, readLogTemplate } from './logs/model/log-template.js'
export type { JudgedLogs, LogReport, LogSide, TemplateFinding } from './logs/model/types.js'
export { describeLine, describeRecord } from './logs/records/describe-record.js'
export { RECORD_FIELDS } from './logs/records/record-fields.js'
export { EventJoiner, type LogEvent } from './logs/trace/event-joiner.js'
export type { PlannedInterval } from './statistics/alpha-spending.js'
