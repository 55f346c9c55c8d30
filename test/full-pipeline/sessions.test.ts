import './use-full-pipeline.ts'
import '../payments/sessions.test.ts'
