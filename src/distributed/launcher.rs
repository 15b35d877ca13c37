//! Detection of a launcher that started this program as several ranks.

/// Variables with the number of ranks: Open MPI's, MVAPICH2's, that of Hydra (MPICH, Intel MPI) and of PMI in general,
/// and that of a step of Slurm.
const SIZES: [&str; 4] = ["OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"];

/// Variables with the number of this rank, where nothing tells how many there are.
const RANKS: [&str; 2] = ["PMIX_RANK", "PMI_RANK"];

/// Environment of a launcher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Launch {
    /// Number of ranks.
    Ranks(usize),
    /// Lower bound of the number of ranks.
    AtLeast(usize),
}

impl Launch {
    /// Number of ranks, or a lower bound of it.
    pub(super) fn ranks(self) -> usize {
        match self {
            Launch::Ranks(ranks) | Launch::AtLeast(ranks) => ranks,
        }
    }
}

/// Returns the number of ranks that this program was started as; `None` where no launcher has left a trace.
pub(super) fn launch() -> Option<Launch> {
    launch_by(|name| std::env::var(name).ok())
}

fn launch_by(variable: impl Fn(&str) -> Option<String>) -> Option<Launch> {
    let number = |name: &&str| variable(name)?.trim().parse::<usize>().ok();
    // A launcher within another, such as one in a step of Slurm, is asked before it.
    let ranks = SIZES.iter().find_map(number).map(Launch::Ranks);
    ranks.or_else(|| RANKS.iter().find_map(number).map(|rank| Launch::AtLeast(rank + 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch_with(variables: &[(&str, &str)]) -> Option<Launch> {
        launch_by(|name| variables.iter().find(|variable| variable.0 == name).map(|variable| variable.1.to_owned()))
    }

    #[test]
    fn launchers_are_recognised() {
        assert_eq!(launch_with(&[]), None);
        // Open MPI.
        assert_eq!(launch_with(&[("OMPI_COMM_WORLD_SIZE", "4"), ("PMIX_RANK", "0")]), Some(Launch::Ranks(4)));
        assert_eq!(launch_with(&[("OMPI_COMM_WORLD_SIZE", "1"), ("PMIX_RANK", "0")]), Some(Launch::Ranks(1)));
        // MPICH and Intel MPI.
        assert_eq!(launch_with(&[("PMI_RANK", "2"), ("PMI_SIZE", "3"), ("PMI_FD", "6")]), Some(Launch::Ranks(3)));
        // srun, by any of its ways; a step of one task, as a shell in an allocation of eight.
        assert_eq!(launch_with(&[("SLURM_STEP_NUM_TASKS", "8"), ("PMIX_RANK", "0")]), Some(Launch::Ranks(8)));
        assert_eq!(launch_with(&[("SLURM_STEP_NUM_TASKS", "1"), ("SLURM_NTASKS", "8")]), Some(Launch::Ranks(1)));
        // mpirun in an allocation of Slurm, whose step is one of two daemons.
        assert_eq!(
            launch_with(&[("SLURM_STEP_NUM_TASKS", "2"), ("OMPI_COMM_WORLD_SIZE", "64")]),
            Some(Launch::Ranks(64))
        );
        // A batch script before it starts anything.
        assert_eq!(launch_with(&[("SLURM_NTASKS", "8"), ("SLURM_PROCID", "0")]), None);
        // A launcher that tells no number.
        assert_eq!(launch_with(&[("PMIX_RANK", "0")]), Some(Launch::AtLeast(1)));
        assert_eq!(launch_with(&[("PMIX_RANK", "5")]), Some(Launch::AtLeast(6)));
        // Nonsense.
        assert_eq!(launch_with(&[("PMI_SIZE", "many")]), None);
    }
}
