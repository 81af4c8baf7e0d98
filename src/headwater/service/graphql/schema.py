"""The GraphQL schema, as Marquez has it under `/api/v1-beta/graphql`.

Beyond Marquez's: `limit` and `offset` of the two long lists, and the id of a run.
"""

from typing import Final

SCHEMA: Final = """
scalar UUID
scalar DateTime
scalar Json

type Query {
  "Every dataset, by name."
  datasets(limit: Int, offset: Int): [Dataset]
  dataset(namespace: String!, name: String!): Dataset
  namespace(name: String!): Namespace
  "Every job, those heard of last first."
  jobs(limit: Int, offset: Int): [Job]
  job(namespace: String!, name: String): Job
  "Jobs within `depth` jobs of the job, both ways, with everything they read and write."
  lineageFromJob(namespace: String!, name: String!, depth: Int = 10): LineageRoot
}

type LineageRoot { graph: [LineageResultEntry] }
union LineageResultEntry = DatasetLineageEntry | JobLineageEntry
type DatasetLineageEntry {
  name: String! namespace: String! type: String! data: Dataset! inEdges: [EdgeEntry] outEdges: [EdgeEntry]
}
type JobLineageEntry {
  name: String! namespace: String! type: String! data: Job! inEdges: [EdgeEntry] outEdges: [EdgeEntry]
}
type EdgeEntry { name: String! namespace: String! type: String! }

type Namespace {
  name: String createdAt: DateTime updatedAt: DateTime description: String
  owners: [Owner] currentOwner: Owner jobs: [Job] datasets: [Dataset]
}
type Owner { createdAt: DateTime name: String namespaces: [Namespace] }
type Tag {
  name: String createdAt: DateTime updatedAt: DateTime description: String
  fields: [DatasetField] datasets: [Dataset]
}
type Source {
  type: String name: String createdAt: DateTime updatedAt: DateTime connectionUrl: String description: String
  datasets: [Dataset]
}

type Dataset {
  type: String name: String physicalName: String createdAt: DateTime updatedAt: DateTime lastModifiedAt: DateTime
  description: String source: Source fields: [DatasetField]
  "The newest version of each job that reads the dataset."
  jobVersionAsInput: [JobVersion]
  "The newest version of each job that writes the dataset."
  jobVersionAsOutput: [JobVersion]
  namespace: Namespace tags: [Tag] currentVersion: DatasetVersion versions: [DatasetVersion]
}
type DatasetField {
  type: String createdAt: DateTime updatedAt: DateTime name: String description: String
  dataset: Dataset versions: [DatasetVersion] tags: [Tag]
}
type DatasetVersion { createdAt: DateTime dataset: Dataset version: UUID fields: [DatasetField] run: Run }

type Job {
  type: String name: String createdAt: DateTime updatedAt: DateTime description: String
  versions: [JobVersion] namespace: Namespace currentVersion: JobVersion
}
type JobVersion {
  createdAt: DateTime updatedAt: DateTime location: String version: UUID jobContext: Json
  latestRun: Run job: Job inputs: [Dataset] outputs: [Dataset]
}
type Run {
  id: String createdAt: DateTime updatedAt: DateTime nominalStartTime: DateTime nominalEndTime: DateTime
  jobVersion: JobVersion runArgs: Json currentState: String
  startState: RunStateRecord endState: RunStateRecord states: [RunStateRecord]
  inputs: [DatasetVersion] outputs: [DatasetVersion]
}
type RunStateRecord { transitionedAt: DateTime state: String run: Run }
"""
