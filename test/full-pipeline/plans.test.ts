import './use-full-pipeline.ts'
import '../plans/plans.test.ts'
