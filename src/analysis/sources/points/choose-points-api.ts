import type {
  AzureSettings,
  CloudWatchSettings,
  DatadogSettings,
  InfluxSettings,
  NewRelicSettings,
  PointsSettings,
  StackdriverSettings,
} from '../answers/source-settings.js'
import { projectOf } from '../tokens/google-token.js'
import { atlasApi } from './atlas.js'
import { azureApi } from './azure.js'
import { cloudWatchApi } from './cloudwatch.js'
import { datadogApi } from './datadog.js'
import { graphiteApi } from './graphite.js'
import { makeInfluxApi } from './influxdb.js'
import { makeNewRelicApi } from './newrelic.js'
import type { PointsApi } from './points-api.js'
import { signalFxApi } from './signalfx.js'
import { makeStackdriverApi } from './stackdriver.js'
import { wavefrontApi } from './wavefront.js'
import { makeWebApi } from './web.js'

/** The API of a source of points for a query. */
export function choosePointsApi(
  settings:
    | PointsSettings
    | DatadogSettings
    | InfluxSettings
    | NewRelicSettings
    | CloudWatchSettings
    | AzureSettings
    | StackdriverSettings,
  query: string,
): PointsApi {
  switch (settings.type) {
    case 'graphite':
      return graphiteApi
    case 'datadog':
      return datadogApi
    case 'signalfx':
      return signalFxApi
    case 'wavefront':
      return wavefrontApi
    case 'atlas':
      return atlasApi
    case 'cloudwatch':
      return cloudWatchApi
    case 'azure':
      return azureApi
    case 'stackdriver':
      return makeStackdriverApi(projectOf(settings))
    case 'influxdb':
      return makeInfluxApi(settings)
    case 'newrelic':
      return makeNewRelicApi(settings.account)
    case 'web':
      return makeWebApi(query)
  }
}
