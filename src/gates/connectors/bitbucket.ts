import { bitbucketCloud } from './bitbucket-cloud.js'
import { bitbucketServer } from './bitbucket-server.js'
import { commitLookups } from './commit-lookups.js'
import type { Tool } from './tool.js'

/**
 * Commits with the outcome of their builds, and pull requests: of Bitbucket Cloud where the URL ends with `/2.0`
 * (`https://api.bitbucket.org/2.0`), else of Bitbucket Server or Data Center.
 */
export const bitbucket: Tool = {
  connectorTypes: ['BITBUCKET'],
  lookUps: (parameters, baseUrl) => {
    const isCloud = /\/2\.0\/?$/.test(baseUrl)
    return commitLookups(parameters, isCloud ? bitbucketCloud(baseUrl) : bitbucketServer(baseUrl))
  },
}
