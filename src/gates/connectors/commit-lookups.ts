import type { ParameterReader } from './parameter-reader.js'
import { COMMIT_ID, MERGE_NUMBER, REPOSITORY, repositoryPath } from './repository-parameters.js'
import type { Lookup, ReadJson, Tool } from './tool.js'

/** How one host of repositories gives a commit or a request to merge. */
export interface RepositoryHost {
  readonly repositoryParameter: string
  readonly mergeParameter: string
  readonly fetchCommit: (read: ReadJson, repository: string, commitId: string) => Promise<object>
  readonly fetchMerge: (read: ReadJson, repository: string, number: string) => Promise<object>
}

/** What triggers ask of a host of repositories: commits and requests to merge of one repository. */
export function commitLookups(parameters: ParameterReader, host: RepositoryHost): readonly Lookup[] {
  const { repositoryParameter, mergeParameter, fetchCommit, fetchMerge } = host
  const repository = repositoryPath(parameters.one(repositoryParameter, REPOSITORY))
  const commitIds = parameters.optionalList('commitId', COMMIT_ID)
  const numbers = parameters.optionalList(mergeParameter, MERGE_NUMBER)
  if (commitIds.length + numbers.length === 0) parameters.missingAll('commitId', mergeParameter)
  return [
    ...commitIds.map((commitId) => ({
      subject: `${repository} ${commitId}`,
      fetch: async (read: ReadJson) => [await fetchCommit(read, repository, commitId)],
    })),
    ...numbers.map((number) => ({
      subject: `${repository} ${mergeParameter} ${number}`,
      fetch: async (read: ReadJson) => [await fetchMerge(read, repository, number)],
    })),
  ]
}

/** Gets a commit (by its id) or a request to merge (by its number) of a repository from the API at `baseUrl`. */
export type FetchFromRepository = (
  read: ReadJson,
  baseUrl: string,
  repository: string,
  id: string,
) => Promise<object>

/** A host of repositories whose triggers name the repository in the parameter `repo`. */
export function repositoryTool(
  connectorTypes: readonly string[],
  mergeParameter: string,
  fetchCommit: FetchFromRepository,
  fetchMerge: FetchFromRepository,
): Tool {
  return {
    connectorTypes,
    lookUps: (parameters, baseUrl) =>
      commitLookups(parameters, {
        repositoryParameter: 'repo',
        mergeParameter,
        fetchCommit: (read, repository, commitId) => fetchCommit(read, baseUrl, repository, commitId),
        fetchMerge: (read, repository, number) => fetchMerge(read, baseUrl, repository, number),
      }),
  }
}
