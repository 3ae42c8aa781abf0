import type { LinesQuery } from '../../sources.js'
import type { CloudWatchLogsSettings, DatadogSettings, SplunkSettings } from '../answers/source-settings.js'
import { askCloudWatchLogs } from './cloudwatch-logs.js'
import { askDatadogLogs } from './datadog-logs.js'
import type { LinesAsking } from './lines-api.js'
import { askSplunk } from './splunk.js'

/** How a source of log lines that answers in pages is asked a query. Raises `invalid` for what it cannot be asked. */
export function chooseLinesApi(
  { type, index }: CloudWatchLogsSettings | DatadogSettings | SplunkSettings,
  query: LinesQuery,
): LinesAsking {
  switch (type) {
    case 'cloudwatchlogs':
      return askCloudWatchLogs(query, index)
    case 'datadog':
      return askDatadogLogs(query, index)
    case 'splunk':
      return askSplunk(query, index)
  }
}
